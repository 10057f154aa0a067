package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
)

// TestNoGroups: of traces that name no groups the sides of transfers are found, and by them the stages of a pipeline; who is slow is
// named as if groups were recorded.
func TestNoGroups(t *testing.T) {
	for _, o := range []testtrace.JobOptions{
		{Kind: "pp_dp", Cause: "stage", Seed: 4, World: 16, Steps: 4},
		{Kind: "3d", Cause: "stage", Seed: 5, World: 16, Steps: 4, Noise: 5},
		{Kind: "pp_dp", Cause: "link", Seed: 9, World: 16, Steps: 4},
		{Kind: "3d", Seed: 6, World: 8, Steps: 5, Trouble: []string{"lost"}},
	} {
		o.Trouble = append(o.Trouble, "old")
		s := Judge(testtrace.NewJob(o))
		if s.Err != nil {
			t.Fatal(o.Kind, s.Err)
		}
		want := Named
		if o.Cause == "" {
			want = Quiet
		}
		if share(s.Precision) != 1 || share(s.Recall) < 0.99 || s.Components != 1 || s.Found != want {
			t.Errorf("%s %s: precision %v, recall %v, %d components, %v %v", o.Kind, o.Cause, s.Precision, s.Recall, s.Components, s.Found, s.short())
		}
		if o.Cause == "stage" && (len(s.Stragglers) != 1 || s.Stragglers[0].Unit != "stage") {
			t.Errorf("%s: %+v", o.Kind, s.Stragglers)
		}
	}
}

// TestNoPairs: where the ranks beside them have no trace, no other side is made up.
func TestNoPairs(t *testing.T) {
	sim := testtrace.NewJob(testtrace.JobOptions{Kind: "pp_dp", Seed: 11, World: 8, Steps: 4, Trouble: []string{"old"}})
	for r := range sim.Ranks {
		sim.Ranks[r].Recorded = sim.Ranks[r].Stage != 1
	}
	list, err := Summaries(sim)
	if err != nil {
		t.Fatal(err)
	}
	j, err := ranks.Join(list, ranks.Options{Step: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		if g := &j.Groups[in.Group]; g.By == "transfers" && sim.Ranks[g.Ranks[0]].Stage < 2 {
			t.Fatalf("ranks %v are paired, of stages %d and %d", g.Ranks, sim.Ranks[g.Ranks[0]].Stage, sim.Ranks[g.Ranks[1]].Stage)
		}
	}
}
