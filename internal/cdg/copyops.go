package cdg

import "regexp"

// copyOp names ops that copy between host and device, and wait for a copy of pageable memory.
var copyOp = regexp.MustCompile(`^aten::(copy_|_to_copy|to|_local_scalar_dense|item|nonzero)$`)

// idleInOp is how long an op must have done nothing of its own when a copy ended, to have waited for it.
const idleInOp = 20 * us

// copyInOp joins a copy of memory that is pageable, or of kinds not known, of which neither launch nor call is recorded to
// the op that made it: the call would have blocked until the copy ended, and its time lies in the self time of the op.
func (b *builder) copyInOp(op ActID) {
	d := b.d
	idle := int64(idleInOp)
	switch b.calls[b.event(op).Name] {
	case waitedCopy:
		idle = 0 // its call always waits
	case stagedCopy, unknownCopy:
	default:
		return
	}
	stream, end := d.Acts[op].Lane, d.Acts[op].End
	for _, l := range b.idleCopyOps(end) {
		thread := LaneID(l)
		if !b.sameProcess(stream, thread) || len(b.order[stream]) > 0 && b.set[l] != b.set[stream] {
			continue
		}
		i := d.PieceAt(thread, end)
		if i < 0 || i+1 >= int(d.PieceFirst[l+1]) || d.Pieces[i].Owner == NoAct {
			continue
		}
		c := d.Pieces[i].Owner
		if d.Call(c) || d.Marker(c) || !b.copiesByName(c) || d.Acts[c].Start >= d.Acts[op].Start ||
			end-d.Pieces[i].Start < idle || d.Pieces[i+1].Start-end > d.Delays.Sync.Max {
			continue
		}
		if d.copying == nil {
			d.copying = map[ActID]bool{}
		}
		d.copying[c] = true
		b.add(c, op, Sync, ByAlignment)
		return
	}
}

// copiesByName reports whether the name of an op says that it copies.
func (b *builder) copiesByName(op ActID) bool {
	if b.copyOps == nil {
		b.copyOps = matchSyms(b.tr, copyOp.MatchString)
	}
	return b.copyOps[b.event(op).Name]
}

// idleCopyOps returns the launching threads, in order, on which an op that copies stopped doing nothing when one ended.
func (b *builder) idleCopyOps(end int64) []int32 {
	d := b.d
	if b.copyOpEnds == nil {
		b.copyOpEnds = []endOf{}
		for l := range b.threads {
			if d.Lanes[l].Stream || len(b.threads[l].launches) == 0 {
				continue
			}
			pieces := d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]]
			for i := 0; i+1 < len(pieces); i++ {
				c := pieces[i].Owner
				if c != NoAct && !d.Call(c) && !d.Marker(c) && b.copiesByName(c) {
					b.copyOpEnds = append(b.copyOpEnds, endOf{pieces[i+1].Start, int32(l)})
				}
			}
		}
		sortEnds(b.copyOpEnds)
	}
	return whoEnds(b.copyOpEnds, end, end+d.Delays.Sync.Max)
}
