package nodes

import (
	"cmp"
	"slices"

	"overlay/internal/trace"
)

// Aggregated nodes (CTDA-CPA 3.2): threads that take turns form one logical thread; along it a node ends where the
// training phase changes, where launches go to another stream, and where a call waited for the GPU. What one CPU node
// launched on a stream is one GPU node.

const (
	shortOther = 50 * us // self time of no phase below this belongs to the node before it
	longWait   = 20 * us // a blocking call that waited less does not end a node
	nodeBudget = 2000    // above this many CPU nodes collectives no longer end them
)

// nodeBuilder holds the nodes while they are made: CPU nodes, logical thread by logical thread, then GPU nodes.
type nodeBuilder struct {
	g       *Graph
	d       *Graph
	threads [][]LaneID // logical threads
	stream  []LaneID   // per event: the stream of what a call launched first, NoLane for all others
	waits   []bool     // per activity: a blocking call that waited for the GPU, and long enough
	light   []bool     // per activity: communication that starts no collective
	relaxed bool       // collectives do not end CPU nodes

	nodes []protoNode
	cpu   int // nodes[:cpu] are CPU nodes
}

// protoNode is a node with what its edges need.
type protoNode struct {
	Node
	thread  int32  // CPU: index of its logical thread
	stretch int32  // CPU: index of its first stretch there
	tail    LaneID // CPU: the thread of its last activity
	opened  ActID  // CPU: the blocking call that opened it, or NoAct
	target  LaneID // CPU: the stream of its launches so far, or NoLane
	from    NodeID // GPU: the CPU node that launched it, or NoNode
	head    ActID  // GPU: its first operation
	covered int64  // end of the time counted in Busy
	settled bool   // CPU: the phase is known
}

// addNode appends a node. It makes room for as many again when there is none: nodes are large to copy.
func (b *nodeBuilder) addNode(n protoNode) {
	if len(b.nodes) == cap(b.nodes) {
		b.nodes = slices.Grow(b.nodes, len(b.nodes)+64)
	}
	b.nodes = append(b.nodes, n)
}

// buildNodes fills Nodes, Edges and NodeOf. It needs the phases.
func buildNodes(g *Graph) {
	b := &nodeBuilder{g: g, d: g, threads: logicalThreads(g)}
	g.logical = b.threads
	b.findLaunches()
	b.findWaits()
	b.findLight()
	b.cutThreads()
	b.cutStreams()
	b.number()
	b.link()
}

// logicalThreads groups the threads that take turns. The leader of a group is the busiest thread that is not the
// autograd engine's; whoever takes turns with it joins. Groups and their members are in order of lane.
func logicalThreads(d *Graph) [][]LaneID {
	var order []LaneID
	for l := range d.Lanes {
		if !d.Lanes[l].Stream {
			order = append(order, LaneID(l))
		}
	}
	slices.SortStableFunc(order, func(x, y LaneID) int {
		tx, ty := &d.threads[x], &d.threads[y]
		if tx.autograd != ty.autograd {
			if ty.autograd {
				return -1
			}
			return 1
		}
		return cmp.Compare(ty.busyTime, tx.busyTime)
	})
	taken := make([]bool, len(d.Lanes))
	var groups [][]LaneID
	for _, l := range order {
		if taken[l] {
			continue
		}
		taken[l] = true
		group := []LaneID{l}
		for _, p := range d.Partners[l] {
			if !taken[p] {
				taken[p] = true
				group = append(group, p)
			}
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(x, y []LaneID) int { return cmp.Compare(x[0], y[0]) })
	return groups
}

// findLaunches notes for each call the stream of the first operation that it launched.
func (b *nodeBuilder) findLaunches() {
	b.stream = make([]LaneID, len(b.g.Trace.Events))
	for i := range b.stream {
		b.stream[i] = NoLane
	}
	for l := range b.d.Lanes {
		lane := &b.d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			if call := b.g.Trace.Launch[b.d.Acts[a].Event]; call != trace.NoEvent && b.stream[call] == NoLane {
				b.stream[call] = LaneID(l)
			}
		}
	}
}

// findWaits notes which calls waited for operations, and long enough.
func (b *nodeBuilder) findWaits() {
	b.waits = make([]bool, len(b.d.Acts))
	for a := range b.d.Acts {
		for _, in := range b.d.Sources(ActID(a)) {
			act := &b.d.Acts[a]
			if in.Rule == Sync && min(b.d.Acts[in.From].End, act.End)-act.Start >= longWait {
				b.waits[a] = true
			}
		}
	}
}

// findLight notes short communication slices that launched nothing: waits and bookkeeping of a collective, which start none.
func (b *nodeBuilder) findLight() {
	starts := make([]bool, len(b.d.Acts))
	for call, stream := range b.stream {
		if stream != NoLane {
			for a := b.d.ActOf[call]; a != NoAct && !starts[a]; a = b.d.Parent[a] {
				starts[a] = true
			}
		}
	}
	b.light = make([]bool, len(b.d.Acts))
	for a := range b.d.Acts {
		act, up := &b.d.Acts[a], b.d.Parent[a]
		if b.g.Phases[act.Event] != Communication || starts[a] || act.End-act.Start >= shortOther {
			continue
		}
		b.light[a] = up == NoAct || b.g.Phases[b.d.Acts[up].Event] != Communication || b.light[up]
	}
}

// number puts the nodes into their final order and NodeOf with them.
func (b *nodeBuilder) number() {
	order := make([]int32, len(b.nodes))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(b.nodes[x].Start, b.nodes[y].Start) })
	to := make([]NodeID, len(b.nodes))
	sorted := make([]protoNode, len(b.nodes))
	b.g.Nodes = make([]Node, len(b.nodes))
	for i, o := range order {
		to[o], sorted[i] = NodeID(i), b.nodes[o]
	}
	for i := range sorted {
		if n := &sorted[i]; n.from != NoNode {
			n.from = to[n.from]
		}
	}
	for i, n := range b.g.NodeOf {
		if n != NoNode {
			b.g.NodeOf[i] = to[n]
			b.nodes[n].Events++
		}
	}
	for i, o := range order {
		sorted[i].Events = b.nodes[o].Events
		b.g.Nodes[i] = sorted[i].Node
	}
	b.nodes = sorted
}
