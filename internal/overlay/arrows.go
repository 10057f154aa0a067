package overlay

import (
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Limits of the arrows. A click on a slice makes Perfetto load and draw everything connected to it: 1,000 arrows
// take about a second. The total costs bytes, and time when a whole area is selected.
const (
	maxConnected = 1000  // arrows of one connected component, the input's own counted
	maxArrows    = 20000 // arrows of the overlay
)

// drawable reports whether an edge is an arrow at all: between two events, and not between a slice and one around it.
func drawable(p *critpath.Path, e *critpath.Edge) bool {
	if e.Type == critpath.OperatorEdge || e.From == e.To || e.From == trace.NoEvent || e.To == trace.NoEvent {
		return false
	}
	return p.Method != "hta" || e.Type != critpath.KernelDelayEdge // HTA draws dependencies, launches and waits
}

// chooseArrows picks the arrows to draw, in the order of the path; all counts those that could be. Where a component
// would be too large its edges along rows, which say no more than critical_next, are left out, all of them: half a
// chain would tell a wrong story. keep is Drawing.Keep.
func chooseArrows(y *graph.Layout, keep []bool, p *critpath.Path, flows Flows) (arrows []Arrow, all int) {
	take := make([]bool, len(p.Edges))
	for i := range p.Edges {
		if take[i] = drawable(p, &p.Edges[i]); take[i] {
			all++
		}
	}
	switch flows {
	case FlowsNone:
		return nil, all
	case FlowsAll:
		return taken(p.Edges, take), all
	}
	input := inputArrows(y, keep)
	events := y.Trace.Events
	row := func(e *critpath.Edge) bool { // edges of HTA's path do not say
		return e.Row || p.Method == "hta" && events[e.From].Track == events[e.To].Track
	}

	// Join all edges first, to see which components are too large for their edges along rows.
	u := newComponents(len(events))
	for _, a := range input {
		u.join(a[0], a[1])
	}
	for i := range p.Edges {
		if e := &p.Edges[i]; take[i] {
			u.join(int32(e.From), int32(e.To))
		}
	}
	n := 0
	for i := range p.Edges {
		if e := &p.Edges[i]; take[i] && row(e) && u.size(int32(e.From)) > maxConnected {
			take[i] = false
		}
		if take[i] {
			n++
		}
	}
	if n > maxArrows {
		for i := range p.Edges {
			take[i] = take[i] && !row(&p.Edges[i])
		}
	}

	// Take of what is left as many as the limits allow.
	u.reset()
	for _, a := range input {
		u.join(a[0], a[1])
	}
	n = 0
	for i := range p.Edges {
		if !take[i] {
			continue
		}
		from, to := int32(p.Edges[i].From), int32(p.Edges[i].To)
		take[i] = n < maxArrows && u.joined(from, to) <= maxConnected
		if take[i] {
			u.join(from, to)
			n++
		}
	}
	return taken(p.Edges, take), all
}

func taken(edges []critpath.Edge, take []bool) []Arrow {
	var out []Arrow
	for i := range edges {
		if e := &edges[i]; take[i] {
			out = append(out, Arrow{From: e.From, To: e.To, FromEnd: e.FromEnd, ToEnd: e.ToEnd, Type: e.Type.String(),
				Weight: e.Weight, Inferred: e.Evidence.Inferred()})
		}
	}
	return out
}

// components is a union-find over events that counts the arrows of each component.
type components []int32 // parent + 1; of a root: 0 - arrows

func newComponents(n int) components { return make(components, n) }

// reset takes all arrows away.
func (u components) reset() { clear(u) }

func (u components) root(x int32) int32 {
	for u[x] > 0 {
		if y := u[x] - 1; u[y] > 0 {
			u[x] = u[y]
		}
		x = u[x] - 1
	}
	return x
}

// size is the number of arrows in the component of x.
func (u components) size(x int32) int32 { return -u[u.root(x)] }

// joined is the number of arrows that the component of x and y would have with an arrow between them.
func (u components) joined(x, y int32) int32 {
	x, y = u.root(x), u.root(y)
	if x == y {
		return 1 - u[x]
	}
	return 1 - u[x] - u[y]
}

func (u components) join(x, y int32) {
	n := u.joined(x, y)
	x, y = u.root(x), u.root(y)
	if x != y {
		if u[x] > u[y] {
			x, y = y, x // the larger one is the root
		}
		u[y] = x + 1
	}
	u[x] = -n
}
