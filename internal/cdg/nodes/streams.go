package nodes

import (
	"math"

	"overlay/internal/trace"
)

// cutStreams makes the GPU nodes: what one CPU node launched on one stream. Collectives stay apart from other work.
// Operations without a launch in the window form a node as long as they follow one another.
func (b *nodeBuilder) cutStreams() {
	slot := make([]NodeID, 2*b.cpu)
	for i := range slot {
		slot[i] = NoNode
	}
	for l := range b.d.Lanes {
		lane := &b.d.Lanes[l]
		if !lane.Stream {
			continue
		}
		orphan := NoNode // the node of the operation before, when that had no launch
		for a := lane.First; a < lane.Limit; a++ {
			act := &b.d.Acts[a]
			if act.End < b.g.Window.Start || act.Start > b.g.Window.End {
				continue
			}
			comm := b.g.Phases[act.Event] == Communication
			from := b.launcher(act.Event)
			if from == NoNode {
				if orphan == NoNode || (b.nodes[orphan].Phase == Communication) != comm {
					orphan = b.gpuNode(a, NoNode, comm)
				}
				b.addOperation(orphan, a)
				continue
			}
			orphan = NoNode
			s := &slot[2*from]
			if comm {
				s = &slot[2*from+1]
			}
			if *s == NoNode || b.nodes[*s].Lane != LaneID(l) {
				*s = b.gpuNode(a, from, comm)
			}
			b.addOperation(*s, a)
			b.noteLaunch(from, act.Event)
		}
	}
}

// launcher returns the CPU node that launched an operation. A copy call that waited for its own copy opens a node; its
// copy belongs to the node before it, or the two would wait for each other.
func (b *nodeBuilder) launcher(op trace.EventID) NodeID {
	call := b.g.Trace.Launch[op]
	if call == trace.NoEvent {
		return NoNode
	}
	n := b.g.NodeOf[call]
	if n > 0 && b.nodes[n].opened == b.d.ActOf[call] && b.nodes[n-1].thread == b.nodes[n].thread {
		n--
	}
	return n
}

func (b *nodeBuilder) gpuNode(a ActID, from NodeID, comm bool) NodeID {
	act := &b.d.Acts[a]
	n := protoNode{thread: -1, opened: NoAct, target: NoLane, tail: NoLane, from: from, head: a, covered: math.MinInt64}
	n.GPU, n.Lane, n.Phase = true, act.Lane, b.g.Phases[act.Event]
	if from != NoNode && !comm {
		n.Phase = b.nodes[from].Phase
	}
	n.Start, n.End = max(act.Start, b.g.Window.Start), max(act.Start, b.g.Window.Start)
	n.First, n.Last, n.Launch = act.Event, act.Event, trace.NoEvent
	b.addNode(n)
	return NodeID(len(b.nodes) - 1)
}

func (b *nodeBuilder) addOperation(id NodeID, a ActID) {
	act, n := &b.d.Acts[a], &b.nodes[id]
	start, end := max(act.Start, b.g.Window.Start), min(act.End, b.g.Window.End)
	if end > n.covered {
		n.Busy += end - max(start, n.covered)
		n.covered = end
	}
	if end >= n.End {
		n.End, n.Last = end, act.Event
	}
	b.g.NodeOf[act.Event] = id
}

// noteLaunch keeps the first launch call of a CPU node.
func (b *nodeBuilder) noteLaunch(from NodeID, op trace.EventID) {
	call := b.g.Trace.Launch[op]
	if l := &b.nodes[from].Launch; *l == trace.NoEvent || b.g.Trace.Events[call].Start < b.g.Trace.Events[*l].Start {
		*l = call
	}
}
