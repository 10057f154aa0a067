// Package nodes aggregates the graph of a trace: some thousand nodes in the place of its events.
package nodes

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/trace"
)

// Aggregated nodes (CTDA-CPA 3.2): threads that take turns form one logical thread; along it a node ends where the
// training phase changes, where launches go to another stream, and where a call waited for the GPU. What one CPU node
// launched on a stream is one GPU node.

const (
	us         = 1000    // ns
	shortOther = 50 * us // self time of no phase below this belongs to the node before it
	longWait   = 20 * us // a blocking call that waited less does not end a node
	nodeBudget = 2000    // above this many CPU nodes collectives no longer end them
)

// nodeBuilder holds the nodes while they are made: CPU nodes, logical thread by logical thread, then GPU nodes.
type nodeBuilder struct {
	g       *cdg.Graph
	phase   []phases.Phase // per event
	out     *Aggregated
	threads [][]cdg.LaneID // logical threads
	stream  []cdg.LaneID   // per activity: the stream of what a call launched first, NoLane for all others
	waits   []bool         // per activity: a blocking call that waited for the GPU, and long enough
	light   []bool         // per activity: communication that starts no collective
	relaxed bool           // collectives do not end CPU nodes

	nodes []*protoNode
	cpu   int // so many CPU nodes come first
}

// protoNode is a node with what its edges need.
type protoNode struct {
	Node
	thread  int32      // CPU: index of its logical thread
	piece   int32      // CPU: index of its first piece there
	tail    cdg.LaneID // CPU: the thread of its last activity
	opened  cdg.ActID  // CPU: the blocking call that opened it, or NoAct
	target  cdg.LaneID // CPU: the stream of its launches so far, or NoLane
	from    ID         // GPU: the CPU node that launched it, or None
	head    cdg.ActID  // GPU: its first operation
	covered int64      // end of the time counted in Busy
	settled bool       // CPU: the phase is known
}

// Aggregate makes the aggregated graph of a graph. phase has the training phase of each event of the trace.
func Aggregate(g *cdg.Graph, phase []phases.Phase) *Aggregated {
	b := &nodeBuilder{g: g, phase: phase, threads: logicalThreads(g)}
	b.out = &Aggregated{threads: b.threads}
	b.findLaunches()
	b.findWaits()
	b.findLight()
	b.cutThreads()
	b.cutStreams()
	b.stream, b.waits, b.light = nil, nil, nil // edges need room
	b.number()
	b.makeEdges()
	return b.out
}

// logicalThreads groups the threads that take turns. The leader of a group is the busiest thread that is not the
// autograd engine's; whoever takes turns with it joins. Groups and their members are in order of lane.
func logicalThreads(g *cdg.Graph) [][]cdg.LaneID {
	var order []cdg.LaneID
	for l := range g.Lanes {
		if !g.Lanes[l].Stream {
			order = append(order, cdg.LaneID(l))
		}
	}
	slices.SortStableFunc(order, func(x, y cdg.LaneID) int {
		if ax, ay := g.Autograd(x), g.Autograd(y); ax != ay {
			if ay {
				return -1
			}
			return 1
		}
		return cmp.Compare(g.BusyTime(y), g.BusyTime(x))
	})
	taken := make([]bool, len(g.Lanes))
	var groups [][]cdg.LaneID
	for _, l := range order {
		if taken[l] {
			continue
		}
		taken[l] = true
		group := []cdg.LaneID{l}
		for _, p := range g.Partners[l] {
			if !taken[p] {
				taken[p] = true
				group = append(group, p)
			}
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(x, y []cdg.LaneID) int { return cmp.Compare(x[0], y[0]) })
	return groups
}

// findLaunches notes for each call the stream of the first operation that it launched.
func (b *nodeBuilder) findLaunches() {
	b.stream = make([]cdg.LaneID, len(b.g.Acts))
	for i := range b.stream {
		b.stream[i] = cdg.NoLane
	}
	for l := range b.g.Lanes {
		lane := &b.g.Lanes[l]
		if !lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			call := b.g.Trace.Launch(b.g.Acts[a].Event)
			if call == trace.NoEvent {
				continue
			}
			if by := b.g.ActOf[call]; by != cdg.NoAct && b.stream[by] == cdg.NoLane {
				b.stream[by] = cdg.LaneID(l)
			}
		}
	}
}

// findWaits notes which calls waited for operations, and long enough.
func (b *nodeBuilder) findWaits() {
	b.waits = make([]bool, len(b.g.Acts))
	for l := range b.g.Lanes {
		lane := &b.g.Lanes[l]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			for i, row := 0, b.g.Sources(a); i < len(row); i++ {
				act := &b.g.Acts[a]
				if row[i].Rule == cdg.Sync && min(b.g.Acts[row[i].From].End, act.End)-act.Start >= longWait {
					b.waits[a] = true
				}
			}
		}
	}
}

// findLight notes short communication slices that launched nothing: waits and bookkeeping of a collective, which start none.
func (b *nodeBuilder) findLight() {
	starts := make([]bool, len(b.g.Acts))
	for call, stream := range b.stream {
		if stream != cdg.NoLane {
			for a := cdg.ActID(call); a != cdg.NoAct && !starts[a]; a = b.g.Parent[a] {
				starts[a] = true
			}
		}
	}
	b.light = make([]bool, len(b.g.Acts))
	for a := range b.g.Acts {
		act, up := &b.g.Acts[a], b.g.Parent[a]
		if b.phase[act.Event] != phases.Communication || starts[a] || act.End-act.Start >= shortOther {
			continue
		}
		b.light[a] = up == cdg.NoAct || b.phase[b.g.Acts[up].Event] != phases.Communication || b.light[up]
	}
}

// number puts the nodes into their final order and NodeOf with them.
func (b *nodeBuilder) number() {
	order := make([]int32, len(b.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	cdg.SortRuns(order, func(x, y *int32) bool { return b.nodes[*x].Start < b.nodes[*y].Start })
	to := make([]ID, len(b.nodes))
	for i, o := range order {
		to[o] = ID(i)
	}
	for i := range b.nodes {
		if n := b.nodes[i]; n.from != None {
			n.from = to[n.from]
		}
	}
	for i, n := range b.out.NodeOf {
		if n != None {
			b.out.NodeOf[i] = to[n]
			b.nodes[n].Events++
		}
	}
	ordered := make([]*protoNode, len(order))
	b.out.Nodes = make([]Node, len(order))
	for i, o := range order {
		ordered[i], b.out.Nodes[i] = b.nodes[o], b.nodes[o].Node
	}
	b.nodes = ordered
}
