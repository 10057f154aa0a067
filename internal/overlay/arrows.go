package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

// Limits of the arrows. A click on a slice makes Perfetto load and draw everything connected to it: 1,000 arrows
// take about a second. The total costs bytes, and time when a whole area is selected.
const (
	maxConnected = 1000  // arrows of one connected component, the input's own counted
	maxArrows    = 20000 // arrows of the overlay
)

// candidate is a critical edge that can be drawn.
type candidate struct {
	arrow Arrow
	row   bool // joins neighbours of one row: says no more than critical_next
}

// drawable lists the edges that are arrows at all: between two events, and not between a slice and one around it.
func drawable(tr *kineto.Trace, p *critpath.Path) []candidate {
	out := make([]candidate, 0, len(p.Edges))
	for i := range p.Edges {
		e := &p.Edges[i]
		if e.Type == critpath.OperatorEdge || e.From == e.To || e.From == kineto.NoEvent || e.To == kineto.NoEvent {
			continue
		}
		if p.Method == "hta" && e.Type == critpath.KernelDelayEdge {
			continue // the peer draws dependencies, launches and waits
		}
		out = append(out, candidate{Arrow{From: e.From, To: e.To, FromEnd: e.FromEnd, ToEnd: e.ToEnd, Type: e.Type.String(),
			Weight: e.Weight, Inferred: e.Evidence.Inferred()}, tr.Events[e.From].Track == tr.Events[e.To].Track})
	}
	return out
}

// chooseArrows picks the arrows to draw, in the order of the path. Where a component would be too large its edges
// along rows are left out, all of them: half a chain would tell a wrong story. keep is Overlay.Keep.
func chooseArrows(g *cdg.Graph, keep []bool, all []candidate, flows Flows) []Arrow {
	if flows == FlowsNone {
		return nil
	}
	take := make([]bool, len(all))
	if flows == FlowsAll {
		for i := range take {
			take[i] = true
		}
		return taken(all, take)
	}
	input := inputArrows(g, keep)

	// All edges, to see which components are too large for their edges along rows.
	u := newComponents(len(g.Trace.Events))
	for _, a := range input {
		u.join(a[0], a[1])
	}
	for i := range all {
		u.join(int32(all[i].arrow.From), int32(all[i].arrow.To))
	}
	n := 0
	for i := range all {
		take[i] = !all[i].row || u.size(int32(all[i].arrow.From)) <= maxConnected
		if take[i] {
			n++
		}
	}
	if n > maxArrows {
		for i := range all {
			take[i] = !all[i].row
		}
	}

	// What is left, as far as it goes.
	u = newComponents(len(g.Trace.Events))
	for _, a := range input {
		u.join(a[0], a[1])
	}
	n = 0
	for i := range all {
		if !take[i] {
			continue
		}
		from, to := int32(all[i].arrow.From), int32(all[i].arrow.To)
		take[i] = n < maxArrows && u.joined(from, to) <= maxConnected
		if take[i] {
			u.join(from, to)
			n++
		}
	}
	return taken(all, take)
}

func taken(all []candidate, take []bool) []Arrow {
	var out []Arrow
	for i := range all {
		if take[i] {
			out = append(out, all[i].arrow)
		}
	}
	return out
}

// components is a union-find over events that counts the arrows of each component.
type components struct {
	up     []int32 // parent + 1; 0 for a root
	arrows []int32 // of a root
}

func newComponents(n int) *components { return &components{make([]int32, n), make([]int32, n)} }

func (u *components) root(x int32) int32 {
	for u.up[x] != 0 {
		if y := u.up[x] - 1; u.up[y] != 0 {
			u.up[x] = u.up[y]
		}
		x = u.up[x] - 1
	}
	return x
}

// size is the number of arrows in the component of x.
func (u *components) size(x int32) int32 { return u.arrows[u.root(x)] }

// joined is the number of arrows that the component of x and y would have with an arrow between them.
func (u *components) joined(x, y int32) int32 {
	x, y = u.root(x), u.root(y)
	if x == y {
		return u.arrows[x] + 1
	}
	return u.arrows[x] + u.arrows[y] + 1
}

func (u *components) join(x, y int32) {
	n := u.joined(x, y)
	x, y = u.root(x), u.root(y)
	if x != y {
		if u.arrows[x] < u.arrows[y] {
			x, y = y, x
		}
		u.up[y] = x + 1
	}
	u.arrows[x] = n
}
