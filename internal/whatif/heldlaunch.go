package whatif

import "overlay/internal/cdg"

// markHeld marks the ends of launch calls that waited for an operation, which is no work of theirs.
func (b *modelBuilder) markHeld() {
	b.held = map[callEnd]cdg.ActID{}
	for _, h := range b.g.Held {
		call := &b.g.Acts[h.Call]
		b.held[callEnd{call.Lane, call.End}] = h.Op
		b.mark(call.Lane, call.End)
	}
}

// isHeld reports whether a launch call that waited for room returns at t, if it is not known to have waited.
func (b *modelBuilder) isHeld(l cdg.LaneID, t int64) bool {
	op, ok := b.held[callEnd{l, t}]
	return ok && b.m.pointOf(op) != none && b.g.Acts[op].Start < t
}

// heldUntil is the source of the return of a launch call that waited for room, if it is one and is not known to have waited.
func (b *modelBuilder) heldUntil(l cdg.LaneID, t int64) (dep, bool) {
	if !b.isHeld(l, t) {
		return dep{}, false
	}
	op := b.held[callEnd{l, t}]
	return b.after(t-b.g.Acts[op].End, dep{src: b.m.pointOf(op), wait: none, rule: cdg.QueueFull, kind: syncDelay, flag: bound | silent}), true
}
