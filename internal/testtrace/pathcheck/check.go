// Package pathcheck holds exact paths to their invariants, and writes graphs of events and paths as text, for tests.
package pathcheck

import (
	"fmt"

	"overlay/internal/critpath"
	"overlay/internal/graph"
)

// Check verifies the invariants of the exact method: tiling, edges that go forward, marks that sum to the owned time.
func Check(p *critpath.Path, g *graph.Graph) error {
	t := p.Window.Start
	owned := int64(0)
	for i, s := range p.Segments.All() {
		if s.Start != t || s.End <= s.Start {
			return fmt.Errorf("segment %d: [%d, %d] after %d", i, s.Start, s.End, t)
		}
		t = s.End
		if s.Owned() {
			owned += s.End - s.Start
			if e := &g.Trace.Events[s.Event]; s.Start < e.Start || s.End > g.Trace.End(e) {
				return fmt.Errorf("segment %d: [%d, %d] outside its event %d [%d, %d]", i, s.Start, s.End, s.Event, e.Start, g.Trace.End(e))
			}
		}
	}
	if t != p.Window.End {
		return fmt.Errorf("segments end at %d, the window at %d", t, p.Window.End)
	}
	marked := int64(0)
	for i, m := range p.Marks.All() {
		if m.NS <= 0 || m.NS > g.Trace.Dur(&g.Trace.Events[m.Event]) {
			return fmt.Errorf("mark %d: event %d of %d ns has %d ns on the path", i, m.Event, g.Trace.Dur(&g.Trace.Events[m.Event]), m.NS)
		}
		marked += m.NS
	}
	if marked != owned || owned != p.Covered {
		return fmt.Errorf("marks sum to %d ns, owned segments to %d, covered is %d", marked, owned, p.Covered)
	}
	for i, e := range p.Edges.All() {
		if err := checkEdge(g, e); err != nil {
			return fmt.Errorf("edge %d: %w", i, err)
		}
	}
	return nil
}

func checkEdge(g *graph.Graph, e *critpath.Edge) error {
	if e.Weight < 0 {
		return fmt.Errorf("weight %d", e.Weight)
	}
	from, to := &g.Trace.Events[e.From], &g.Trace.Events[e.To]
	if from.Start > g.Trace.End(to) {
		return fmt.Errorf("%s goes back: event %d [%d, %d] to %d [%d, %d]", e.Type, e.From, from.Start, g.Trace.End(from), e.To, to.Start, g.Trace.End(to))
	}
	return nil
}
