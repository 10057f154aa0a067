package cdg

import (
	"regexp"
	"slices"
	"sort"

	"overlay/internal/trace"
)

var lostCopiesRule = rule{name: "copies without calls", find: func(b *builder) { (&lostCopies{builder: b}).find() }}

type lostCopies struct {
	*builder
	copyOps  []bool  // per symbol: names of ops that copy; nil until asked for
	callEnds []endOf // ends of calls of which no copy is recorded, ascending; nil until asked for
	opEnds   []endOf // ends of pieces of ops that copy, ascending; nil until asked for
}

// find joins copies without a recorded launch to what waited for them.
func (b *lostCopies) find() {
	for a := b.firstOp; int(a) < len(b.d.Acts); a++ {
		if b.launch[a] == NoAct && b.event(a).Kind == trace.Memcpy {
			b.orphanCopy(a)
		}
	}
}

// orphanCopy joins a copy without a recorded launch to the copy call without a recorded copy that returned when it
// ended, else to an op.
func (b *lostCopies) orphanCopy(op ActID) {
	d := b.d
	end := d.Acts[op].End
	for _, thread := range b.lostCopies(end) {
		calls := b.copyCalls[thread]
		n := sort.Search(len(calls), func(i int) bool { return d.Acts[calls[i]].End+2*us >= end })
		if n == len(calls) || b.ofCall[calls[n]] != NoAct {
			continue
		}
		c := &d.Acts[calls[n]]
		if !b.sameProcess(c.Lane, d.Acts[op].Lane) || c.Start >= end || d.Acts[op].Start < c.Start || c.End-end > d.Delays.Sync.Max {
			continue
		}
		if b.class(calls[n]) == asyncCopy {
			switch b.calls[b.event(op).Name] {
			case waitedCopy, stagedCopy:
			case unknownCopy:
				if c.End < end {
					continue
				}
			default:
				continue
			}
		}
		b.add(calls[n], op, Sync, ByAlignment)
		return
	}
	b.copyInOp(op)
}

// lostCopies returns the threads, in order, that have a copy call without a recorded copy that returned when one ended.
func (b *lostCopies) lostCopies(end int64) []int32 {
	if b.callEnds == nil {
		b.callEnds = []endOf{}
		for thread, calls := range b.copyCalls {
			for _, c := range calls {
				if b.ofCall[c] == NoAct {
					b.callEnds = append(b.callEnds, endOf{b.d.Acts[c].End, int32(thread)})
				}
			}
		}
		sortEnds(b.callEnds)
	}
	return whoEnds(b.callEnds, end-2*us, end+b.d.Delays.Sync.Max)
}

// endOf is when something of a thread ends.
type endOf struct {
	at  int64
	who int32 // the thread
}

func sortEnds(ends []endOf) { SortRuns(ends, func(x, y *endOf) bool { return x.at < y.at }) }

// whoEnds returns the threads, in order, of which something ends in [from, to].
func whoEnds(ends []endOf, from, to int64) []int32 {
	var who []int32
	lo := sort.Search(len(ends), func(i int) bool { return ends[i].at >= from })
	for ; lo < len(ends) && ends[lo].at <= to; lo++ {
		who = append(who, ends[lo].who)
	}
	slices.Sort(who)
	return slices.Compact(who)
}

// copyOp names ops that copy between host and device, and wait for a copy of pageable memory.
var copyOp = regexp.MustCompile(`^aten::(copy_|_to_copy|to|_local_scalar_dense|item|nonzero)$`)

// idleInOp is how long an op must have done nothing of its own when a copy ended, to have waited for it.
const idleInOp = 20 * us

// copyInOp joins a copy of memory that is pageable, or of kinds not known, of which neither launch nor call is recorded to
// the op that made it: the call would have blocked until the copy ended, and its time lies in the self time of the op.
func (b *lostCopies) copyInOp(op ActID) {
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
func (b *lostCopies) copiesByName(op ActID) bool {
	if b.copyOps == nil {
		b.copyOps = matchSyms(b.tr, copyOp.MatchString)
	}
	return b.copyOps[b.event(op).Name]
}

// idleCopyOps returns the launching threads, in order, on which an op that copies stopped doing nothing when one ended.
func (b *lostCopies) idleCopyOps(end int64) []int32 {
	d := b.d
	if b.opEnds == nil {
		b.opEnds = []endOf{}
		for l := range b.threads {
			if d.Lanes[l].Stream || len(b.threads[l].launches) == 0 {
				continue
			}
			pieces := d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]]
			for i := 0; i+1 < len(pieces); i++ {
				c := pieces[i].Owner
				if c != NoAct && !d.Call(c) && !d.Marker(c) && b.copiesByName(c) {
					b.opEnds = append(b.opEnds, endOf{pieces[i+1].Start, int32(l)})
				}
			}
		}
		sortEnds(b.opEnds)
	}
	return whoEnds(b.opEnds, end, end+d.Delays.Sync.Max)
}
