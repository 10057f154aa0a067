package overlay

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

// marks says what is written on each input event: its part of the path, and its node of the aggregated graph.
func marks(tr *kineto.Trace, g *cdg.Graph, p *critpath.Path) []Mark {
	total := enclosed(g, p)
	n := 0
	for i := range tr.Events {
		if g.NodeOf[i] != cdg.NoNode {
			n++
		}
	}
	out := make([]Mark, 0, n+len(p.Marks)/8)
	next := 0 // in p.Marks
	for i := range tr.Events {
		m := Mark{Event: kineto.EventID(i), ID: -1, Next: -1, Node: int32(g.NodeOf[i])}
		if next < len(p.Marks) && int(p.Marks[next].Event) == i {
			own := &p.Marks[next]
			m.NS, m.ID, m.Next, m.TotalNS = own.NS, own.ID, own.Next, own.NS
			next++
		}
		if a := g.Deps.ActOf[i]; a != cdg.NoAct && total[a] > 0 {
			m.TotalNS = total[a]
		}
		if m.Critical() || m.TotalNS > 0 || m.Node >= 0 {
			out = append(out, m)
		}
	}
	if next != len(p.Marks) {
		panic("overlay: internal error: the marks of the path are not sorted by event")
	}
	return out
}

// enclosed sums for each activity the critical time of itself and of what it encloses on its thread.
func enclosed(g *cdg.Graph, p *critpath.Path) []int64 {
	d := g.Deps
	total := make([]int64, len(d.Acts))
	for i := range p.Marks {
		if a := d.ActOf[p.Marks[i].Event]; a != cdg.NoAct {
			total[a] += p.Marks[i].NS
		}
	}
	for a := len(d.Acts) - 1; a >= 0; a-- { // a parent stands before its children
		if up := d.Parent[a]; up != cdg.NoAct {
			total[up] += total[a]
		}
	}
	return total
}
