package advise

import (
	"strings"
	"testing"

	"overlay/internal/testtrace"
)

// TestSlowOperatorsAreBlamedOnWhatWasRecorded: without stacks and shapes nobody is told to record without them, and stacks on
// operators count as stacks.
func TestSlowOperatorsAreBlamedOnWhatWasRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		key, value string
		do, lacks  string // lacks is what is said of stacks
	}{
		"nothing": {"", "", "look at the CPU", "stacks were not recorded"},
		"shapes":  {"Input Dims", `[[2]]`, "record again without with_stack", "stacks were not recorded"},
		"stacks":  {oldStacks, `"train.py(3): step"`, "record again without with_stack", "stacks stand on operators only"},
	} {
		s := newScene()
		s.views(20_000, false)
		if c.key != "" {
			s.op("aten::view", 20_000, nothing).Arg(c.key, testtrace.Raw(c.value))
		}
		a := adviseOn(t, s.b.Parse(t))
		f := a.find("slow-host-ops")
		if f == nil || !strings.HasPrefix(f.Do, c.do) || strings.Contains(f.Action[0], "with_stack") != (c.key != "") {
			t.Errorf("%s: %+v, want to %s", name, f, c.do)
		}
		said := false
		for _, u := range a.Unknown {
			said = said || strings.Contains(u.What, c.lacks)
		}
		if !said {
			t.Errorf("%s: not said that %s: %v", name, c.lacks, a.Unknown)
		}
	}
}

// TestExchangesAreNotBuckets: what hides an all-to-all is not the size of DDP's buckets, and what is shown is on the path.
func TestExchangesAreNotBuckets(t *testing.T) {
	for name, plant := range map[string]func(*scene){"all-to-all": func(s *scene) { s.allToAll(20_000_000) }, "all-reduce": func(s *scene) { s.allReduce(20_000_000, 1<<32, true) }} {
		s := newScene()
		plant(s)
		s.corr++ // one that is hidden behind a kernel
		other := s.b.Stream(0, 20)
		s.main.Launch("cudaLaunchKernel", s.host, 2000, s.corr)
		s.host += 2000
		other.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", s.gpu+10_000, 30_000_000, s.corr)
		s.kernel("aten::mm", "gemm", 40_000_000)
		f := adviseOn(t, s.b.Parse(t)).find("comm-exposed")
		if f == nil || strings.Contains(f.Do, "bucket_cap_mb") != (name == "all-reduce") || strings.Contains(f.Do, "all-to-all") != (name == "all-to-all") {
			t.Errorf("%s: %+v", name, f)
		} else if f.Total != 5 {
			t.Errorf("%s: %d collectives are shown, 5 are on the path", name, f.Total)
		}
	}
}

// TestUnseenTimeWithStacks: where stacks were recorded, recording them is no way to see more.
func TestUnseenTimeWithStacks(t *testing.T) {
	for _, stacks := range []bool{false, true} {
		s := newScene()
		if stacks {
			s.python(1000, false)
		}
		s.work(1)
		s.annotate("my phase", 50_000_000, nothing)
		s.work(1)
		f := adviseOn(t, s.b.Parse(t)).find("unseen-time")
		if f == nil || strings.Contains(f.Do+f.Action[0], "with_stack") == stacks {
			t.Errorf("stacks %v: %+v", stacks, f)
		}
	}
}
