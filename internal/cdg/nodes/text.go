package nodes

import (
	"bufio"
	"fmt"
	"io"

	"overlay/internal/trace"
)

// bound is the first stretch of a node on its logical thread.
type bound struct {
	stretch int32
	node    NodeID
}

// CPUTime calls visit for every stretch of every logical thread with the node that it belongs to, in order of time
// within a thread. Stretches without length are left out.
func (g *Graph) CPUTime(visit func(NodeID, Stretch)) {
	for i, lanes := range g.logical {
		bounds := g.bounds[i]
		if len(bounds) == 0 {
			continue
		}
		n := int32(0)
		g.stretches(lanes, func(s *Stretch) bool {
			for len(bounds) > 1 && bounds[1].stretch <= n {
				bounds = bounds[1:]
			}
			n++
			if s.Start < s.End {
				visit(bounds[0].node, *s)
			}
			return true
		})
	}
}

// LogicalThreads returns the threads of the trace in groups that take turns: each group is one thread of the aggregated graph.
func (g *Graph) LogicalThreads() [][]LaneID { return g.logical }

// WriteNodes writes the aggregated half of the graph as text, one line a node and one an edge; times are ns since the
// start of the window.
func (g *Graph) WriteNodes(w io.Writer) error {
	out := bufio.NewWriter(w)
	name := func(id trace.EventID) string {
		if id == trace.NoEvent {
			return "-"
		}
		return g.Trace.Name(id)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		kind := "cpu"
		if n.GPU {
			kind = "gpu"
		}
		fmt.Fprintf(out, "node %d %s %s lane=%d %d..%d busy=%d events=%d sync=%t first=%q last=%q launch=%q\n", i, kind, n.Phase, n.Lane,
			n.Start-g.Window.Start, n.End-g.Window.Start, n.Busy, n.Events, n.Sync, name(n.First), name(n.Last), name(n.Launch))
	}
	for _, e := range g.Edges {
		fmt.Fprintf(out, "edge %d -> %d %s\n", e.From, e.To, e.Kind)
	}
	return out.Flush()
}
