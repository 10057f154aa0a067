package ranks_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
)

// TestRealJob tells the story of a real job: the eight ranks end their collectives together, and what the others waited
// for in the first one is in part that the profiler of rank 7 began late.
func TestRealJob(t *testing.T) {
	j, err := ranks.Join(dlrm8(t), ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Check(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v %+v world %d missing %v", j.Matching, j.Clocks, j.World, j.Missing)
	for _, m := range j.Members {
		t.Logf("rank %d %+v [%d %d] %d stubs", m.Rank, m.Clock, m.Start-j.Window[0], m.End-j.Window[0], len(m.Stubs))
	}
	for _, g := range j.Groups {
		t.Logf("%+v", g)
	}
	for _, in := range j.Instances {
		t.Logf("%v last %d arrive %d second -%d transfer %d wait %d unrec %d skewed %v", in.Coll, in.Last, in.Arrive-j.Window[0], in.Arrive-in.Second, in.Transfer, in.Wait, in.Unrec, in.Skewed)
	}
	var by [8]int64
	var class [critpath.NumSegmentKinds]int64
	for _, s := range j.Path {
		by[s.Member] += s.End - s.Start
		class[s.Kind] += s.End - s.Start
	}
	t.Log(by, class, len(j.Path), j.Jumps)
	w := j.Waits
	t.Log(w.Total, w.Time, w.Transfer, w.Unrec, w.Missing, w.ByMember)
	for _, c := range w.Charged[:10] {
		t.Log(c.Member, j.Members[c.Member].Names[c.Name], c.Class, c.NS)
	}
}
