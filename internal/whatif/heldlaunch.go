package whatif

import "overlay/internal/cdg"

// markHeld marks the ends of launch calls that waited for an operation, which is no work of theirs.
func (b *modelBuilder) markHeld() {
	for _, h := range b.g.Held {
		call := &b.g.Acts[h.Call]
		b.mark(call.Lane, call.End)
	}
}

// isHeld reports whether a launch call that waited for room returns at a point, if it is not known to have waited, and what ended then.
func (b *modelBuilder) isHeld(point int32) (op cdg.ActID, ok bool) {
	if b.called.Has(cdg.ActID(point)) {
		op, ok = b.held[point]
	}
	return op, ok && b.m.pointOf(op) != none && b.g.Acts[op].Start < b.m.at[point]
}

// heldUntil is the source of the return of a launch call that waited for room, if it is one and is not known to have waited.
func (b *modelBuilder) heldUntil(point int32) (dep, bool) {
	op, ok := b.isHeld(point)
	if !ok {
		return dep{}, false
	}
	return b.after(b.m.at[point]-b.g.Acts[op].End, dep{src: b.m.pointOf(op), wait: none, rule: cdg.QueueFull, kind: syncDelay, flag: bound | silent}), true
}
