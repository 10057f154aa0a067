package nodes

import (
	"math"

	"overlay/internal/trace"
)

// cutter cuts one logical thread into nodes.
type cutter struct {
	*nodeBuilder
	thread  int32
	at      int32           // index of the stretch
	open    bool            // b.nodes ends with a node of this thread
	runEnd  int64           // end of the latest stretch so far, and its thread
	runLane LaneID          //
	held    []trace.EventID // events that start at one instant, own no time there, and wait for the node of what they enclose
	heldAt  int64
	heldBy  LaneID
}

// cutThreads makes the CPU nodes. As soon as they exceed the budget it starts again with collectives that end none.
func (b *nodeBuilder) cutThreads() {
	b.nodes = b.nodes[:0]
	b.g.NodeOf = resetNodes(b.g.NodeOf, len(b.g.Trace.Events))
	for i := 0; i < len(b.threads); i++ {
		if !b.cutThread(int32(i)) {
			b.relaxed = true
			b.nodes, i = b.nodes[:0], -1
			b.g.NodeOf = resetNodes(b.g.NodeOf, len(b.g.Trace.Events))
		}
	}
	b.cpu = len(b.nodes)
}

// cutThread cuts one logical thread; false when that makes too many nodes.
func (b *nodeBuilder) cutThread(thread int32) bool {
	c := cutter{nodeBuilder: b, thread: thread, at: -1, runEnd: math.MinInt64}
	within := true
	b.g.stretches(b.threads[thread], func(s *Stretch) bool {
		c.at++
		c.add(s)
		within = b.relaxed || len(b.nodes) <= nodeBudget
		return within
	})
	if within {
		c.release()
	}
	return within
}

func resetNodes(of []NodeID, n int) []NodeID {
	if of == nil {
		of = make([]NodeID, n)
	}
	for i := range of {
		of[i] = NoNode
	}
	return of
}

// add puts a stretch into the current node, or into a new one.
func (c *cutter) add(s *Stretch) {
	act := &c.d.Acts[s.Act]
	if len(c.held) > 0 && (c.heldAt != s.Start || c.heldBy != act.Lane) {
		c.release()
	}
	if s.first && s.End == s.Start && act.End > act.Start && c.stream[act.Event] == NoLane && !c.waits[s.Act] {
		c.held, c.heldAt, c.heldBy = append(c.held, act.Event), s.Start, act.Lane
		return
	}
	phase := c.g.Phases[act.Event]
	soft := phase == Communication && (c.relaxed || c.light[s.Act])
	foreign := c.runLane != act.Lane && s.Start < c.runEnd // another thread still runs
	switch {
	case !c.open:
		c.start(s, act)
	case foreign:
	case s.first && c.border(s, act, soft):
		c.start(s, act)
	case s.End > s.Start && c.phaseEnds(phase, soft, s.End-s.Start):
		c.start(s, act)
	}
	n := &c.nodes[len(c.nodes)-1]
	if long := s.End - s.Start; !n.settled && !soft && long > 0 && (phase != Other || long >= shortOther) {
		n.Phase, n.settled = phase, true
	}
	if stream := c.stream[act.Event]; s.first && stream != NoLane && n.opened != s.Act && !(soft && n.target != NoLane) {
		n.target = stream
	}
	c.extend(n, s, act)
}

// border reports whether a call starts a node: it waited for the GPU, or launches to another stream.
func (c *cutter) border(s *Stretch, act *Act, soft bool) bool {
	if c.waits[s.Act] {
		return true
	}
	stream, n := c.stream[act.Event], &c.nodes[len(c.nodes)-1]
	return stream != NoLane && n.target != NoLane && stream != n.target && !soft
}

// phaseEnds reports whether time of a phase does not belong to the current node.
func (c *cutter) phaseEnds(phase Phase, soft bool, long int64) bool {
	n := &c.nodes[len(c.nodes)-1]
	return n.settled && phase != n.Phase && !soft && (phase != Other || long >= shortOther)
}

func (c *cutter) start(s *Stretch, act *Act) {
	n := protoNode{thread: c.thread, stretch: c.at, tail: act.Lane, opened: NoAct, target: NoLane, from: NoNode, head: NoAct, covered: s.Start}
	n.Lane, n.Start, n.End = act.Lane, s.Start, s.Start
	n.First, n.Last, n.Launch = act.Event, act.Event, trace.NoEvent
	if s.first && c.waits[s.Act] {
		n.opened, n.Sync = s.Act, true
	} else if len(c.held) > 0 {
		n.First = c.held[0]
	}
	c.addNode(n)
	c.open = true
}

// extend adds a stretch to its node.
func (c *cutter) extend(n *protoNode, s *Stretch, act *Act) {
	if s.End > n.covered {
		n.Busy += s.End - max(s.Start, n.covered)
		n.covered = s.End
	}
	if s.End >= n.End {
		n.End, n.Last = s.End, act.Event
	}
	n.tail = act.Lane
	if s.End >= c.runEnd {
		c.runEnd, c.runLane = s.End, act.Lane
	}
	if !s.first {
		if id := c.g.NodeOf[act.Event]; id == NoNode { // it started before the window
			c.g.NodeOf[act.Event] = NodeID(len(c.nodes) - 1)
		}
		return
	}
	c.g.NodeOf[act.Event] = NodeID(len(c.nodes) - 1)
	c.release()
}

// release gives the held events the current node: that of the first time among what they enclose.
func (c *cutter) release() {
	if len(c.held) == 0 {
		return
	}
	if !c.open {
		a := c.d.ActOf[c.held[0]]
		c.start(&Stretch{c.heldAt, c.heldAt, a, true}, &c.d.Acts[a])
	}
	for _, id := range c.held {
		c.g.NodeOf[id] = NodeID(len(c.nodes) - 1)
	}
	c.held = c.held[:0]
}
