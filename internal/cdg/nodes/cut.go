package nodes

import (
	"math"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/trace"
)

// cutter cuts one logical thread into nodes.
type cutter struct {
	*nodeBuilder
	thread   int32
	at       int32           // index of the piece
	open     bool            // b.nodes ends with a node of this thread
	lastEnd  int64           // end of the latest piece so far, and its thread
	lastLane cdg.LaneID      //
	held     []trace.EventID // events that start at one instant, own no time there, and wait for the node of what they enclose
	heldAt   int64
	heldBy   cdg.LaneID
}

// cutThreads makes the CPU nodes. As soon as they exceed the budget it starts again with collectives that end none.
func (b *nodeBuilder) cutThreads() {
	b.nodes = b.nodes[:0]
	b.out.NodeOf = resetNodes(b.out.NodeOf, len(b.g.Trace.Events))
	for i := 0; i < len(b.threads); i++ {
		if !b.cutThread(int32(i)) {
			b.relaxed = true
			b.nodes, i = b.nodes[:0], -1
			b.out.NodeOf = resetNodes(b.out.NodeOf, len(b.g.Trace.Events))
		}
	}
	b.cpu = len(b.nodes)
}

// cutThread cuts one logical thread; false when that makes too many nodes.
func (b *nodeBuilder) cutThread(thread int32) bool {
	c := cutter{nodeBuilder: b, thread: thread, at: -1, lastEnd: math.MinInt64}
	within := true
	eachPiece(b.g, b.threads[thread], func(s *Piece) bool {
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

func resetNodes(of []ID, n int) []ID {
	if of == nil {
		of = make([]ID, n)
	}
	for i := range of {
		of[i] = None
	}
	return of
}

// add puts a piece into the current node, or into a new one.
func (c *cutter) add(s *Piece) {
	act := &c.g.Acts[s.Act]
	if len(c.held) > 0 && (c.heldAt != s.Start || c.heldBy != act.Lane) {
		c.release()
	}
	if s.starts && s.End == s.Start && act.End > act.Start && c.stream[s.Act] == cdg.NoLane && !c.waits[s.Act] {
		c.held, c.heldAt, c.heldBy = append(c.held, act.Event), s.Start, act.Lane
		return
	}
	phase := c.phase[act.Event]
	soft := phase == phases.Communication && (c.relaxed || c.light[s.Act])
	foreign := c.lastLane != act.Lane && s.Start < c.lastEnd // another thread still runs
	switch {
	case !c.open:
		c.start(s, act)
	case foreign:
	case s.starts && c.border(s, act, soft):
		c.start(s, act)
	case s.End > s.Start && c.phaseEnds(phase, soft, s.End-s.Start):
		c.start(s, act)
	}
	n := c.nodes[len(c.nodes)-1]
	if long := s.End - s.Start; !n.settled && !soft && long > 0 && (phase != phases.Other || long >= shortOther) {
		n.Phase, n.settled = phase, true
	}
	if stream := c.stream[s.Act]; s.starts && stream != cdg.NoLane && n.opened != s.Act && !(soft && n.target != cdg.NoLane) {
		n.target = stream
	}
	c.extend(n, s, act)
}

// border reports whether a call starts a node: it waited for the GPU, or launches to another stream.
func (c *cutter) border(s *Piece, act *cdg.Act, soft bool) bool {
	if c.waits[s.Act] {
		return true
	}
	stream, n := c.stream[s.Act], c.nodes[len(c.nodes)-1]
	return stream != cdg.NoLane && n.target != cdg.NoLane && stream != n.target && !soft
}

// phaseEnds reports whether time of a phase does not belong to the current node.
func (c *cutter) phaseEnds(phase phases.Phase, soft bool, long int64) bool {
	n := c.nodes[len(c.nodes)-1]
	return n.settled && phase != n.Phase && !soft && (phase != phases.Other || long >= shortOther)
}

func (c *cutter) start(s *Piece, act *cdg.Act) {
	n := protoNode{thread: c.thread, piece: c.at, tail: act.Lane, opened: cdg.NoAct, target: cdg.NoLane, from: None, head: cdg.NoAct, covered: s.Start}
	n.Lane, n.Start, n.End = act.Lane, s.Start, s.Start
	n.First, n.Last, n.Launch = act.Event, act.Event, trace.NoEvent
	if s.starts && c.waits[s.Act] {
		n.opened, n.Sync = s.Act, true
	} else if len(c.held) > 0 {
		n.First = c.held[0]
	}
	c.nodes = append(c.nodes, &n)
	c.open = true
}

// extend adds a piece to its node.
func (c *cutter) extend(n *protoNode, s *Piece, act *cdg.Act) {
	if s.End > n.covered {
		n.Busy += s.End - max(s.Start, n.covered)
		n.covered = s.End
	}
	if s.End >= n.End {
		n.End, n.Last = s.End, act.Event
	}
	n.tail = act.Lane
	if s.End >= c.lastEnd {
		c.lastEnd, c.lastLane = s.End, act.Lane
	}
	if !s.starts {
		if id := c.out.NodeOf[act.Event]; id == None { // it started before the window
			c.out.NodeOf[act.Event] = ID(len(c.nodes) - 1)
		}
		return
	}
	c.out.NodeOf[act.Event] = ID(len(c.nodes) - 1)
	c.release()
}

// release gives the held events the current node: that of the first time among what they enclose.
func (c *cutter) release() {
	if len(c.held) == 0 {
		return
	}
	if !c.open {
		a := c.g.ActOf[c.held[0]]
		c.start(&Piece{c.heldAt, c.heldAt, a, true}, &c.g.Acts[a])
	}
	for _, id := range c.held {
		c.out.NodeOf[id] = ID(len(c.nodes) - 1)
	}
	c.held = c.held[:0]
}
