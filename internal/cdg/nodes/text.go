package nodes

import (
	"bufio"
	"fmt"
	"io"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// bound is the first piece of a node on its logical thread.
type bound struct {
	piece int32
	node  ID
}

// CPUTime calls visit for every piece of every logical thread with the node that it belongs to, in order of time
// within a thread. Pieces without length are left out.
func (s *Aggregated) CPUTime(g *cdg.Graph, visit func(ID, Piece)) {
	for i, lanes := range s.threads {
		bounds := s.bounds[i]
		if len(bounds) == 0 {
			continue
		}
		n := int32(0)
		eachPiece(g, lanes, func(p *Piece) bool {
			for len(bounds) > 1 && bounds[1].piece <= n {
				bounds = bounds[1:]
			}
			n++
			if p.Start < p.End {
				visit(bounds[0].node, *p)
			}
			return true
		})
	}
}

// WriteNodes writes the aggregated graph of g as text, one line a node and one an edge; times are ns since the
// start of the window.
func (s *Aggregated) WriteNodes(w io.Writer, g *cdg.Graph) error {
	out := bufio.NewWriter(w)
	name := func(id trace.EventID) string {
		if id == trace.NoEvent {
			return "-"
		}
		return g.Trace.Name(id)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		kind := "cpu"
		if n.GPU {
			kind = "gpu"
		}
		fmt.Fprintf(out, "node %d %s %s lane=%d %d..%d busy=%d events=%d sync=%t first=%q last=%q launch=%q\n", i, kind, n.Phase, n.Lane,
			n.Start-g.Window.Start, n.End-g.Window.Start, n.Busy, n.Events, n.Sync, name(n.First), name(n.Last), name(n.Launch))
	}
	for _, e := range s.Edges {
		fmt.Fprintf(out, "edge %d -> %d %s\n", e.From, e.To, e.Kind)
	}
	return out.Flush()
}
