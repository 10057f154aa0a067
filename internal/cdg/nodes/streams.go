package nodes

import (
	"math"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/trace"
)

// cutStreams makes the GPU nodes: what one CPU node launched on one stream. Collectives stay apart from other work.
// Operations without a launch in the window form a node as long as they follow one another.
func (b *nodeBuilder) cutStreams() {
	slot := make([]ID, 2*b.cpu)
	for i := range slot {
		slot[i] = None
	}
	for l := range b.g.Lanes {
		lane := &b.g.Lanes[l]
		if !lane.Stream {
			continue
		}
		orphan := None // the node of the operation before, when that had no launch
		for a := lane.First; a < lane.Limit; a++ {
			act := &b.g.Acts[a]
			if act.End < b.g.Window.Start || act.Start > b.g.Window.End {
				continue
			}
			comm := b.phase[act.Event] == phases.Communication
			from := b.launcher(act.Event)
			if from == None {
				if orphan == None || (b.nodes[orphan].Phase == phases.Communication) != comm {
					orphan = b.gpuNode(a, None, comm)
				}
				b.addOperation(orphan, a)
				continue
			}
			orphan = None
			s := &slot[2*from]
			if comm {
				s = &slot[2*from+1]
			}
			if *s == None || b.nodes[*s].Lane != cdg.LaneID(l) {
				*s = b.gpuNode(a, from, comm)
			}
			b.addOperation(*s, a)
			b.noteLaunch(from, act.Event)
		}
	}
}

// launcher returns the CPU node that launched an operation. A copy call that waited for its own copy opens a node; its
// copy belongs to the node before it, or the two would wait for each other.
func (b *nodeBuilder) launcher(op trace.EventID) ID {
	call := b.g.Trace.Launch(op)
	if call == trace.NoEvent {
		return None
	}
	n := b.out.NodeOf[call]
	if n > 0 && b.nodes[n].opened == b.g.ActOf[call] && b.nodes[n-1].thread == b.nodes[n].thread {
		n--
	}
	return n
}

func (b *nodeBuilder) gpuNode(a cdg.ActID, from ID, comm bool) ID {
	act := &b.g.Acts[a]
	n := protoNode{thread: -1, opened: cdg.NoAct, target: cdg.NoLane, tail: cdg.NoLane, from: from, head: a, covered: math.MinInt64}
	n.GPU, n.Lane, n.Phase = true, act.Lane, b.phase[act.Event]
	if from != None && !comm {
		n.Phase = b.nodes[from].Phase
	}
	n.Start, n.End = max(act.Start, b.g.Window.Start), max(act.Start, b.g.Window.Start)
	n.First, n.Last, n.Launch = act.Event, act.Event, trace.NoEvent
	b.nodes = append(b.nodes, &n)
	return ID(len(b.nodes) - 1)
}

func (b *nodeBuilder) addOperation(id ID, a cdg.ActID) {
	act, n := &b.g.Acts[a], b.nodes[id]
	start, end := max(act.Start, b.g.Window.Start), min(act.End, b.g.Window.End)
	if end > n.covered {
		n.Busy += end - max(start, n.covered)
		n.covered = end
	}
	if end >= n.End {
		n.End, n.Last = end, act.Event
	}
	b.out.NodeOf[act.Event] = id
}

// noteLaunch keeps the first launch call of a CPU node.
func (b *nodeBuilder) noteLaunch(from ID, op trace.EventID) {
	call := b.g.Trace.Launch(op)
	if l := &b.nodes[from].Launch; *l == trace.NoEvent || b.g.Trace.Events[call].Start < b.g.Trace.Events[*l].Start {
		*l = call
	}
}
