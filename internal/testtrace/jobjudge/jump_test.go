package jobjudge

import (
	"testing"

	"overlay/internal/ranks"
	"overlay/internal/testtrace"
)

// TestJump: where the clock of a host jumps, all its ranks are given the jump and no others, the clocks are right on both sides of it, and
// the error that they tell covers what nobody can know.
func TestJump(t *testing.T) {
	for i, kind := range []string{"dp", "tp_dp", "pp_dp", "3d", "moe"} {
		sim := testtrace.NewJob(testtrace.JobOptions{Kind: kind, Seed: 80 + uint64(i), World: 16, PerHost: 4, Steps: 6, Noise: 1, Trouble: []string{"clock_step"}})
		if s := Judge(sim); s.Err != nil || s.Clock > 8000 || !s.Promised || share(s.Precision) != 1 || share(s.Recall) < 0.99 || s.Found == False {
			t.Errorf("%s: %v %v", kind, s.Err, s.short())
		}
		list, err := Summaries(sim)
		if err != nil {
			t.Fatal(err)
		}
		j, err := ranks.Join(list, ranks.Options{Step: -1})
		if err != nil {
			t.Fatal(err)
		}
		if j.Clocks.Jumps != 1 {
			t.Errorf("%s: %d jumps", kind, j.Clocks.Jumps)
		}
		for m := range j.Members {
			x := &j.Members[m]
			step := &sim.Ranks[x.Rank].Clock
			if jumped := len(x.Clock.Pieces) == 2; jumped != (step.Step != 0) {
				t.Errorf("%s: rank %d: %d pieces, jumps by %d", kind, x.Rank, len(x.Clock.Pieces), step.Step)
			} else if jumped {
				p := &x.Clock.Pieces[1]
				if by := p.Offset - x.Clock.Pieces[0].Offset; by < step.Step-10_000 || by > step.Step+10_000 || p.Unsure[0] > p.From || p.From > p.Unsure[1] ||
					step.Local(step.StepAt-1) < p.Unsure[0] || step.Local(step.StepAt-1) > p.Unsure[1] {
					t.Errorf("%s: rank %d: a jump by %d at %d, it is at %d: %+v", kind, x.Rank, by, p.From-step.Base, step.StepAt, p)
				}
			}
		}
	}
}
