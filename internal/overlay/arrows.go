package overlay

import (
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Limits of the arrows. A click on a slice makes Perfetto load and draw everything connected to it: 1,000 arrows
// take about a second, 5,000 two. The total costs 20 bytes an arrow, and time when a whole area is selected.
const (
	maxConnected  = 1000    // arrows of one connected component, the input's own counted
	everConnected = 5000    // the same, where fewer would leave out too many edges
	maxArrows     = 200_000 // arrows of the overlay
	maxLeftOut    = 2       // edges in a thousand that may be left out to keep components small
)

// drawable reports whether an edge is an arrow at all: between two events, and not between a slice and one around it.
func drawable(p *critpath.Path, e *critpath.Edge) bool {
	if e.Type == critpath.OperatorEdge || e.From == e.To || e.From == trace.NoEvent || e.To == trace.NoEvent {
		return false
	}
	return p.Method != "hta" || e.Type != critpath.KernelDelayEdge // HTA draws dependencies, launches and waits
}

// chooseArrows picks the arrows to draw, in the order of the path; all counts those that could be. What is left out are
// edges along rows: the fewest that keep every component within its limit, and, where even the total is too large,
// those at the end of the path. keep is Drawing.Keep.
func chooseArrows(y *graph.Layout, keep []bool, p *critpath.Path, flows Flows) (arrows []Arrow, all int) {
	var input [][2]int32
	inputRead := func() {}
	if flows == FlowsCritical {
		inputRead = par.Beside(func() { input = inputArrows(y, keep) })
	}
	edges := p.Edges.List()
	take := make([]bool, len(edges))
	for i := range edges {
		if take[i] = drawable(p, &edges[i]); take[i] {
			all++
		}
	}
	switch flows {
	case FlowsNone:
		return nil, all
	case FlowsAll:
		return taken(edges, take), all
	}
	events := y.Trace.Events
	row := func(i int32) bool { // edges of HTA's path do not say
		e := &edges[i]
		return e.Row || p.Method == "hta" && events[e.From].Track == events[e.To].Track
	}
	if all > maxArrows {
		limitTotal(take, row)
	}
	inputRead()
	c := cutter{layout: y, edges: edges, row: row, input: input, take: take}
	c.cut(all * maxLeftOut / 1000)
	return taken(edges, take), all
}

// limitTotal leaves out edges after the first maxArrows, along rows before those that change it.
func limitTotal(take []bool, row func(i int32) bool) {
	n := 0
	for _, along := range []bool{false, true} {
		for i := range take {
			if take[i] && row(int32(i)) == along {
				take[i] = n < maxArrows
				n++
			}
		}
	}
}

func taken(edges []critpath.Edge, take []bool) []Arrow {
	n := 0
	for _, t := range take {
		if t {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	out := make([]Arrow, 0, n)
	for i := range edges {
		if e := &edges[i]; take[i] {
			out = append(out, Arrow{From: e.From, To: e.To, FromEnd: e.FromEnd, ToEnd: e.ToEnd, Type: e.Type.String(),
				Weight: e.Weight, Inferred: e.Evidence.Inferred()})
		}
	}
	return out
}
