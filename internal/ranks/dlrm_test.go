package ranks_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/testtrace/jobcheck"
)

// TestRealJob tells the story of a real job: the eight ranks end their collectives together, and what the others waited
// for in the first one is in part that the profiler of rank 7 began late.
func TestRealJob(t *testing.T) {
	j, err := ranks.Join(dlrm8(t), ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := jobcheck.Check(j); err != nil {
		t.Fatal(err)
	}
	if m := &j.Matching; m.Instances != 8 || m.Complete != 8 || m.Unmatched != 0 || len(j.Groups) != 1 || j.Groups[0].By != "times" {
		t.Errorf("matched %+v, groups %+v", m, j.Groups)
	}
	if c := &j.Clocks; c.P90 > 4000 || c.Largest > 4000 || c.Violations > 0 || c.Components != 1 {
		t.Errorf("clocks %+v", c)
	}
	first := &j.Instances[0]
	if !first.Skewed || j.Members[first.Last].Rank != 7 {
		t.Errorf("the first collective waits for rank %d: %+v", j.Members[first.Last].Rank, first)
	}
	for _, in := range j.Instances[1:] {
		if in.Skewed || in.Transfer > 100_000 {
			t.Errorf("%+v", in)
		}
	}
	var kinds [critpath.NumSegmentKinds]int64
	for _, s := range j.Path {
		kinds[s.Kind] += s.End - s.Start
	}
	window := j.Window[1] - j.Window[0]
	if share := kinds[critpath.Unrecorded] * 100 / window; share < 33 || share > 39 || j.Members[j.Path[0].Member].Rank != 7 {
		t.Errorf("%d %% of the window is not recorded", share)
	}
	if cpu := (kinds[critpath.CPU] + kinds[critpath.HostUnrecorded] + kinds[critpath.RuntimeCall]) * 100 / window; cpu < 55 {
		t.Errorf("%d %% of the path is on the CPU", cpu)
	}
	w := &j.Waits
	for what, x := range map[string][2]int64{"all": {w.Total, 46_900_000}, "rank 7": {w.ByMember[7].Caused, 25_100_000}, "what is not recorded": {w.Unrec, 10_400_000},
		"rank 5": {w.ByMember[5].Caused, 6_300_000}, "rank 4": {w.ByMember[4].Caused, 5_000_000}} {
		if d := x[0] - x[1]; max(d, -d) > 150_000 {
			t.Errorf("waited for %s: %d, not %d", what, x[0], x[1])
		}
	}
	if v := ranks.Judge(j, ranks.Expected{}); len(v.Stragglers) > 0 || v.Judged != 1 {
		t.Errorf("one step is judged: %+v", v)
	}
}
