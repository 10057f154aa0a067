package slim

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// An operation that stays without the call that launched it has its correlation, and no launch.
func TestRestrict(t *testing.T) {
	tr := &trace.Trace{}
	for _, k := range []trace.Kind{trace.Runtime, trace.Kernel, trace.Runtime, trace.Kernel} {
		e := trace.Event{Ph: 'X', Kind: k, Flags: trace.HasCorr}
		tr.SetCorr(&e, 1<<40+int64(len(tr.Events)/2))
		tr.Events = append(tr.Events, e)
	}
	tr.LinkLaunches()
	s := slimmer{g: &graph.Graph{Graph: &cdg.Graph{Layout: &cdg.Layout{Trace: tr}}}, keep: make([]bool, 4)}
	lent := 0
	tr.Lend = func(int) []byte { lent++; return nil }
	s.restrict() // its room is taken again
	s.keep = []bool{false, true, true, true}
	out := s.restrict()
	if lent != 1 || out.Lend != nil {
		t.Errorf("asked for room %d times, want once and no more", lent)
	}
	if l := out.Launch(1); l != trace.NoEvent {
		t.Errorf("launched by %d, which is left out", l)
	}
	if l := out.Launch(3); l != 2 {
		t.Errorf("launched by %d, want 2", l)
	}
	for _, id := range []trace.EventID{1, 3} {
		if got, want := out.Corr(&out.Events[id]), tr.Corr(&tr.Events[id]); got != want {
			t.Errorf("event %d: correlation %d, want %d", id, got, want)
		}
	}
	if l := tr.Launch(1); l != 0 || out.Events[0].Ph != 0 {
		t.Errorf("the whole trace was changed, or what is left out stayed: launched by %d", l)
	}
}
