// Package nodecheck holds aggregated graphs to their invariants, and writes them as text, for tests.
package nodecheck

import (
	"bufio"
	"fmt"
	"io"

	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Check verifies the invariants of the aggregated graph of g: nodes in order of start and of sane extent; every activity
// that starts in the window in exactly one node, on its thread's or stream's side; edges in range, of a kind that fits
// their ends, sorted, no pair twice, and without a cycle; the time of the threads divided among the nodes.
func Check(g *graph.Graph) error {
	s := g.Aggregated
	events := make([]int32, len(s.Nodes))
	for a := range g.Acts {
		act := &g.Acts[a]
		n := s.NodeOf[act.Event]
		if n == nodes.None {
			if act.Start >= g.Window.Start && act.Start < g.Window.End {
				return fmt.Errorf("event %d [%d, %d] starts in the window and has no node", act.Event, act.Start, act.End)
			}
			continue
		}
		if s.Nodes[n].GPU != g.Lanes[act.Lane].Stream {
			return fmt.Errorf("event %d: node %d is on the wrong side", act.Event, n)
		}
		events[n]++
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch {
		case i > 0 && n.Start < s.Nodes[i-1].Start:
			return fmt.Errorf("node %d starts before the one before", i)
		case n.Start < g.Window.Start, n.End > g.Window.End, n.End < n.Start, n.Busy < 0, n.Busy > n.End-n.Start:
			return fmt.Errorf("node %d: [%d, %d] busy %d in window [%d, %d]", i, n.Start, n.End, n.Busy, g.Window.Start, g.Window.End)
		case n.Events != events[i]:
			return fmt.Errorf("node %d counts %d events and has %d", i, n.Events, events[i])
		case n.Phase >= phases.NumPhases, n.First == trace.NoEvent, n.Last == trace.NoEvent:
			return fmt.Errorf("node %d is incomplete", i)
		}
	}
	if err := checkEdges(s); err != nil {
		return err
	}
	return checkCPUTime(g)
}

func checkEdges(s *nodes.Aggregated) error {
	in := make([]int, len(s.Nodes))
	next := make([][]nodes.ID, len(s.Nodes))
	for i, e := range s.Edges {
		if e.From == e.To || e.From < 0 || e.To < 0 || int(e.From) >= len(s.Nodes) || int(e.To) >= len(s.Nodes) {
			return fmt.Errorf("edge %d: %v", i, e)
		}
		if i > 0 {
			if p := s.Edges[i-1]; p.To > e.To || p.To == e.To && p.From >= e.From {
				return fmt.Errorf("edge %d: %v after %v", i, e, p)
			}
		}
		from, to := &s.Nodes[e.From], &s.Nodes[e.To]
		fits := false
		switch e.Kind {
		case nodes.SequentialEdge:
			fits = from.GPU == to.GPU && (!from.GPU || from.Lane == to.Lane)
		case nodes.CrossThreadEdge:
			fits = !from.GPU && !to.GPU
		case nodes.CallEdge:
			fits = !from.GPU && to.GPU
		case nodes.SyncEdge:
			fits = from.GPU && (to.GPU || to.Sync)
		}
		if !fits {
			return fmt.Errorf("edge %d: %s does not fit nodes %d and %d", i, e.Kind, e.From, e.To)
		}
		in[e.To]++
		next[e.From] = append(next[e.From], e.To)
	}
	var free []nodes.ID
	for n, k := range in {
		if k == 0 {
			free = append(free, nodes.ID(n))
		}
	}
	for i := 0; i < len(free); i++ {
		for _, n := range next[free[i]] {
			if in[n]--; in[n] == 0 {
				free = append(free, n)
			}
		}
	}
	if len(free) != len(s.Nodes) {
		return fmt.Errorf("%d of %d nodes lie on or behind a cycle", len(s.Nodes)-len(free), len(s.Nodes))
	}
	return nil
}

// checkCPUTime adds up the pieces of each node: inside it, and together its busy time unless threads overlap there.
func checkCPUTime(g *graph.Graph) error {
	s := g.Aggregated
	sum := make([]int64, len(s.Nodes))
	var err error
	s.CPUTime(g.Graph, func(n nodes.ID, p nodes.Piece) {
		node := &s.Nodes[n]
		sum[n] += p.End - p.Start
		act := &g.Acts[p.Act]
		if p.Start < node.Start || p.End > node.End || p.Start < act.Start || p.End > act.End {
			err = fmt.Errorf("piece [%d, %d] of event %d lies outside it or node %d [%d, %d]", p.Start, p.End, act.Event, n, node.Start, node.End)
		}
	})
	for i := range s.Nodes {
		if n := &s.Nodes[i]; err == nil && !n.GPU && sum[i] < n.Busy {
			err = fmt.Errorf("node %d is busy %d and holds %d", i, n.Busy, sum[i])
		}
	}
	return err
}

// Write writes the aggregated graph of g as text, one line a node and one an edge; times are ns since the
// start of the window.
func Write(w io.Writer, g *graph.Graph) error {
	s := g.Aggregated
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
