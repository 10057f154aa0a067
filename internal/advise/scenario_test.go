package advise

import (
	"reflect"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// TestShrinkLong: what is taken from slices of many seconds is right although times multiplied with each other do not fit int64.
func TestShrinkLong(t *testing.T) {
	const second = 1_000_000_000
	s := newScene()
	s.work(1)
	s.mark(s.op("aten::long", 30*second, nothing))
	s.work(1)
	g, p := testtrace.Exact(t, s.b.Parse(t))
	r := newRun(g, p)
	for a := range r.g.Acts {
		if r.g.Acts[a].Event != s.planted[0] {
			continue
		}
		change := r.scenario()
		change.shrink([]cdg.ActID{cdg.ActID(a)}, 3*second)
		if got := change.atMost(); got < 27*second-1 || got > 27*second+1 {
			t.Errorf("from 30 s to 3 s takes %d ns", got)
		}
		return
	}
	t.Error("the slice is not in the graph")
}

// TestStepsOfAScenario: neighbours that multiply are one step with the range of their factors; other verbs between them part them.
func TestStepsOfAScenario(t *testing.T) {
	s := newScene()
	s.work(4)
	g, p := testtrace.Exact(t, s.b.Parse(t))
	r := newRun(g, p)
	x := r.scenario()
	one := r.m.SetOf(0)
	scale := func(num int64) whatif.Change { return whatif.Change{Verb: whatif.Scale, On: one, Num: num, Den: 10} }
	x.changes = []whatif.Change{scale(5), scale(2), scale(8), {Verb: whatif.Shrink, On: one, NS: 2000}, scale(1), {Verb: whatif.Remove, On: one}}
	want := []Step{{"scale", 3, "0.2 to 0.8"}, {"shrink", 1, "2.0 µs"}, {"scale", 1, "0.1"}, {"remove", 1, ""}}
	if got := x.steps(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
