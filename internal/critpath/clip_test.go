package critpath_test

import (
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
)

// TestClip: the parts of a divided path are paths of their parts, and together the whole, by class and by event.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(testtrace.Classes).Draw(t, "class")
		tr := testtrace.Simulated(testtrace.Random(class, rapid.Uint64().Draw(t, "seed"))).Parse(t)
		g, p := testtrace.Exact(t, tr)
		at := rapid.Int64Range(p.Window.Start+1, p.Window.End-1).Draw(t, "at")
		whole := critpath.Breakdown(p)
		ns := map[int32]int64{}
		for _, side := range [][2]int64{{p.Window.Start, at}, {at, p.Window.End}} {
			part := p.Clip(g, side[0], side[1])
			if err := pathcheck.Check(part, g); err != nil {
				t.Fatal(err)
			}
			for c, d := range critpath.Breakdown(part).Class {
				whole.Class[c] -= d
			}
			for _, m := range part.Marks.All() {
				ns[int32(m.Event)] += m.NS
			}
		}
		if whole.Class != [critpath.NumClasses]int64{} {
			t.Errorf("the parts miss the whole by %v", whole.Class)
		}
		for _, m := range p.Marks.All() {
			if ns[int32(m.Event)] != m.NS {
				t.Errorf("event %d has %d ns, and %d in parts", m.Event, m.NS, ns[int32(m.Event)])
			}
		}
	})
}
