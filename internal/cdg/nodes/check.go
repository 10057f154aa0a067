package nodes

import (
	"fmt"

	"overlay/internal/trace"
)

// CheckNodes verifies the invariants of the aggregated half: nodes in order of start and of sane extent; every activity
// that starts in the window in exactly one node, on its thread's or stream's side; edges in range, of a kind that fits
// their ends, sorted, no pair twice, and without a cycle; the time of the threads divided among the nodes.
func (g *Graph) CheckNodes() error {
	events := make([]int32, len(g.Nodes))
	for a := range g.Acts {
		act := &g.Acts[a]
		n := g.NodeOf[act.Event]
		if n == NoNode {
			if act.Start >= g.Window.Start && act.Start < g.Window.End {
				return fmt.Errorf("event %d [%d, %d] starts in the window and has no node", act.Event, act.Start, act.End)
			}
			continue
		}
		if g.Nodes[n].GPU != g.Lanes[act.Lane].Stream {
			return fmt.Errorf("event %d: node %d is on the wrong side", act.Event, n)
		}
		events[n]++
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch {
		case i > 0 && n.Start < g.Nodes[i-1].Start:
			return fmt.Errorf("node %d starts before the one before", i)
		case n.Start < g.Window.Start, n.End > g.Window.End, n.End < n.Start, n.Busy < 0, n.Busy > n.End-n.Start:
			return fmt.Errorf("node %d: [%d, %d] busy %d in window [%d, %d]", i, n.Start, n.End, n.Busy, g.Window.Start, g.Window.End)
		case n.Events != events[i]:
			return fmt.Errorf("node %d counts %d events and has %d", i, n.Events, events[i])
		case n.Phase >= NumPhases, n.First == trace.NoEvent, n.Last == trace.NoEvent:
			return fmt.Errorf("node %d is incomplete", i)
		}
	}
	if err := g.checkEdges(); err != nil {
		return err
	}
	return g.checkCPUTime()
}

func (g *Graph) checkEdges() error {
	in := make([]int, len(g.Nodes))
	next := make([][]NodeID, len(g.Nodes))
	for i, e := range g.Edges {
		if e.From == e.To || e.From < 0 || e.To < 0 || int(e.From) >= len(g.Nodes) || int(e.To) >= len(g.Nodes) {
			return fmt.Errorf("edge %d: %v", i, e)
		}
		if i > 0 {
			if p := g.Edges[i-1]; p.To > e.To || p.To == e.To && p.From >= e.From {
				return fmt.Errorf("edge %d: %v after %v", i, e, p)
			}
		}
		from, to := &g.Nodes[e.From], &g.Nodes[e.To]
		fits := false
		switch e.Kind {
		case SequentialEdge:
			fits = from.GPU == to.GPU && (!from.GPU || from.Lane == to.Lane)
		case CrossThreadEdge:
			fits = !from.GPU && !to.GPU
		case CallEdge:
			fits = !from.GPU && to.GPU
		case SyncEdge:
			fits = from.GPU && (to.GPU || to.Sync)
		}
		if !fits {
			return fmt.Errorf("edge %d: %s does not fit nodes %d and %d", i, e.Kind, e.From, e.To)
		}
		in[e.To]++
		next[e.From] = append(next[e.From], e.To)
	}
	var free []NodeID
	for n, k := range in {
		if k == 0 {
			free = append(free, NodeID(n))
		}
	}
	for i := 0; i < len(free); i++ {
		for _, n := range next[free[i]] {
			if in[n]--; in[n] == 0 {
				free = append(free, n)
			}
		}
	}
	if len(free) != len(g.Nodes) {
		return fmt.Errorf("%d of %d nodes lie on or behind a cycle", len(g.Nodes)-len(free), len(g.Nodes))
	}
	return nil
}

// checkCPUTime adds up the stretches of each node: inside it, and together its busy time unless threads overlap there.
func (g *Graph) checkCPUTime() error {
	sum := make([]int64, len(g.Nodes))
	var err error
	g.CPUTime(func(n NodeID, s Stretch) {
		node := &g.Nodes[n]
		sum[n] += s.End - s.Start
		act := &g.Acts[s.Act]
		if s.Start < node.Start || s.End > node.End || s.Start < act.Start || s.End > act.End {
			err = fmt.Errorf("stretch [%d, %d] of event %d lies outside it or node %d [%d, %d]", s.Start, s.End, act.Event, n, node.Start, node.End)
		}
	})
	for i := range g.Nodes {
		if n := &g.Nodes[i]; err == nil && !n.GPU && sum[i] < n.Busy {
			err = fmt.Errorf("node %d is busy %d and holds %d", i, n.Busy, sum[i])
		}
	}
	return err
}
