package ranks_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/ranks"
	"overlay/internal/testtrace"
)

// simulated makes the summaries of a simulated job.
func simulated(t testing.TB, sim *testtrace.Job) []*ranks.Summary {
	t.Helper()
	var list []*ranks.Summary
	for r := range sim.Ranks {
		if !sim.Ranks[r].Recorded {
			continue
		}
		tr, err := kineto.Parse(sim.JSON(int32(r)), sim.Ranks[r].File, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := critpath.Exact(g)
		if err != nil {
			t.Fatal(err)
		}
		s := ranks.Summarize(g, p, ranks.Identity{Source: sim.Ranks[r].File, Rank: ranks.Rank(tr.Rank), By: "recorded"})
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

// score is how well a job was understood.
type score struct {
	clock          int64 // largest error of a clock, ns
	right, found   int   // pairs of operations that were matched; those that are pairs
	pairs          int   // that there are
	last, arrivals int   // instances of which the last to arrive is right or within 2 µs; all
	waitErr, wait  int64
}

func judge(t testing.TB, sim *testtrace.Job, j *ranks.Job) score {
	var s score
	at := map[int32]int{}
	for m := range j.Members {
		at[int32(j.Members[m].Rank)] = m
	}
	ref := sim.Ranks[j.Members[0].Rank].Clock
	for m := range j.Members {
		r := &sim.Ranks[j.Members[m].Rank]
		c := &j.Members[m].Clock
		if c.Component != j.Members[0].Clock.Component {
			continue
		}
		worst := int64(0)
		for k := range 21 {
			g := r.Window[0] + (r.Window[1]-r.Window[0])*int64(k)/20
			e := c.Global(r.Clock.Local(g)) - ref.Local(g)
			if max(e, -e) > worst {
				worst = max(e, -e)
			}
		}
		s.clock = max(s.clock, worst)
	}
	truth := map[[2]int32]int32{} // rank and event: true instance
	for i := range sim.Instances {
		n := 0
		for _, m := range sim.Instances[i].Members {
			if m.Event >= 0 && sim.Ranks[m.Rank].Recorded {
				truth[[2]int32{m.Rank, int32(m.Event)}] = int32(i)
				n++
			}
		}
		s.pairs += n * (n - 1) / 2
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		if os.Getenv("SHOW") != "" {
			line := ""
			for _, r := range j.Of[in.First : in.First+in.N] {
				m := &j.Members[r.Member]
				id, ok := truth[[2]int32{int32(m.Rank), int32(m.Ops[r.Op].Event)}]
				if !ok {
					id = -1
				}
				line += fmt.Sprintf(" %d:%d", m.Rank, id)
			}
			f := strings.Fields(line)
			bad := false
			for _, w := range f {
				_, a, _ := strings.Cut(f[0], ":")
				_, b, _ := strings.Cut(w, ":")
				bad = bad || a != b
			}
			if bad {
				t.Logf("bad instance %d group %s %s step %d by %v coll %v:%s", i, j.Groups[in.Group].Name, j.Groups[in.Group].Desc, in.Step, in.By, in.Coll, line)
			}
		}
		count := map[int32]int{}
		refs := j.Of[in.First : in.First+in.N]
		for _, r := range refs {
			m := &j.Members[r.Member]
			id, ok := truth[[2]int32{int32(m.Rank), int32(m.Ops[r.Op].Event)}]
			if !ok {
				id = -1 - r.Member
			}
			count[id]++
		}
		s.found += int(in.N) * int(in.N-1) / 2
		best := int32(-1)
		for id, n := range count {
			s.right += n * (n - 1) / 2
			if id >= 0 && n == int(in.N) {
				best = id
			}
		}
		if best < 0 {
			continue
		}
		x := &sim.Instances[best]
		starts := map[int32]int64{}
		arrive, recorded := int64(-1<<62), true
		for _, mem := range x.Members {
			if mem.Event >= 0 && sim.Ranks[mem.Rank].Recorded {
				starts[mem.Rank] = mem.Start
				arrive = max(arrive, mem.Start)
			} else {
				recorded = false
			}
		}
		if !recorded || x.Coll == "broadcast" {
			continue
		}
		s.arrivals++
		if arrive-starts[int32(j.Members[in.Last].Rank)] <= 2000 {
			s.last++
		}
		trueWait := int64(0)
		for _, mem := range x.Members {
			trueWait += arrive - mem.Start
		}
		s.wait += trueWait
		d := in.Wait - trueWait
		s.waitErr += max(d, -d)
	}
	return s
}

func TestSimulatedJobs(t *testing.T) {
	seeds := []uint64{}
	for _, w := range strings.Fields(os.Getenv("SEEDS")) {
		a, b, ok := strings.Cut(w, "-")
		lo, _ := strconv.Atoi(a)
		hi := lo
		if ok {
			hi, _ = strconv.Atoi(b)
		}
		for ; lo <= hi; lo++ {
			seeds = append(seeds, uint64(lo))
		}
	}
	for _, seed := range seeds {
		sim := testtrace.RandomJob(seed)
		list := simulated(t, sim)
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s := judge(t, sim, j)
		t.Log(fmt.Sprintf("seed %d %s %q %v noise %v: %d ranks clock %.1f µs, precision %d/%d recall %d/%d, last %d/%d, wait err %.2f %%, ambiguous %d, comps %d jumps %d err %d", seed, sim.Kind, sim.Cause, sim.Trouble, sim.Noise, sim.World,
			float64(s.clock)/1e3, s.right, s.found, s.right, s.pairs, s.last, s.arrivals, 100*float64(s.waitErr)/float64(max(s.wait, 1)), j.Matching.Ambiguous, j.Clocks.Components, j.Clocks.Jumps, j.Members[len(j.Members)-1].Clock.Error))
		v := ranks.Judge(j, ranks.Expected{})
		t.Log(fmt.Sprintf("    planted %+v; judged %d of %d: %+v links %+v", sim.Culprits, v.Judged, len(v.Steps), short(v.Stragglers), v.Links))
	}
}

func short(list []ranks.Straggler) (out []string) {
	for _, x := range list {
		out = append(out, fmt.Sprintf("%s %s %s %v share %.3f %+v", x.Kind, x.Unit, x.Name, x.Members, x.Share, x.Cause))
	}
	return out
}
