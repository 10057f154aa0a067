package advise

import (
	"testing"

	"overlay/internal/testtrace"
)

// TestPlanted: a cause in a simulated process is found, and its gain is that of simulating the process without it, to 10 %
// or a point of the window; nothing else is found that would gain more. What does not follow from the trace, such as how
// long a fused kernel takes, is as the rule assumes in the simulation too: that is not tested here.
func TestPlanted(t *testing.T) {
	for _, cause := range testtrace.Causes {
		for seed := range uint64(6) {
			p := testtrace.Plant(cause, seed)
			var with, without testtrace.Run
			with.Simulate(p.With)
			without.Simulate(p.Without)
			b, _ := with.Build()
			truth := with.End - without.End
			a := adviseBytes(t, b.JSON())
			f := a.find(cause)
			if f == nil {
				t.Errorf("%s, seed %d: not found: %v below %v", cause, seed, a.ids(), a.Below)
				continue
			}
			if off := max(f.Gain-truth, truth-f.Gain); off*10 > truth && off*100 > a.Window {
				t.Errorf("%s, seed %d: gains %d of %d, and %d in truth", cause, seed, f.Gain, a.Window, truth)
			}
			for i := range a.Findings {
				if x := &a.Findings[i]; x.Gain > f.Gain {
					t.Errorf("%s, seed %d: %s gains more: %v", cause, seed, x.ID, a.ids())
				}
			}
			if a.Together > a.Base {
				t.Errorf("%s, seed %d: together %d of %d", cause, seed, a.Together, a.Base)
			}
		}
	}
}

// TestBalanced: a process in which nothing is wrong gets no finding with a gain.
func TestBalanced(t *testing.T) {
	for seed := range uint64(20) {
		var run testtrace.Run
		run.Simulate(testtrace.Plant("", seed).With)
		b, _ := run.Build()
		if a := adviseBytes(t, b.JSON()); len(a.Top(10)) > 0 {
			t.Errorf("seed %d: %v", seed, a.ids())
		}
	}
}

func adviseBytes(t *testing.T, text []byte) *Advice {
	t.Helper()
	tr := testtrace.Parse(t, text)
	return adviseOn(t, tr)
}
