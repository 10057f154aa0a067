package advise

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/testtrace"
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
