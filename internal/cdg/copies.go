package cdg

import (
	"slices"
	"sort"

	"overlay/internal/trace"
)

// copyWaits lets a copy call wait for its own copy: when it is not asynchronous, or one side is pageable memory. Where
// the kinds of memory are not known, the call waited exactly when it did not return before its copy ended; where they
// are, that is a check.
func (b *builder) copyWaits() {
	d := b.d
	for a := b.firstOp; int(a) < len(d.Acts); a++ {
		call := b.launch[a]
		if call == NoAct {
			continue
		}
		class := b.class(call)
		if class != blockingCopy && class != asyncCopy {
			continue
		}
		op, c := &d.Acts[a], &d.Acts[call]
		waited, by := op.End <= c.End+2*us, ByAPI
		if class == asyncCopy {
			kind := b.calls[b.event(a).Name]
			switch kind {
			case waitedCopy:
				// As CUDA documents, whatever the clock of the device shows; a call that is shorter than its copy did not wait.
				waited = waited || c.End-c.Start >= op.End-op.Start
			case stagedCopy:
			case unknownCopy:
				waited, by = op.End <= c.End, ByAlignment
			default:
				waited = false
			}
			if kind == waitedCopy && !waited || kind == unwaited && op.End <= c.End {
				b.quality["copy_kind_against_times"]++
			}
		}
		if waited && op.End > c.Start && op.Start < c.End {
			b.add(call, a, Sync, by)
		}
	}
}

// orphanCopies joins copies without a recorded launch to what waited for them. CUPTI drops records of calls where its buffers are full
// (cuptiActivityGetNumDroppedRecords), and keeps those of their operations.
func (b *builder) orphanCopies() {
	for a := b.firstOp; int(a) < len(b.d.Acts); a++ {
		if b.launch[a] == NoAct && b.event(a).Kind == trace.Memcpy {
			b.orphanCopy(a)
		}
	}
}

// orphanCopy joins a copy without a recorded launch to the copy call without a recorded copy that returned when it
// ended, else to an op.
func (b *builder) orphanCopy(op ActID) {
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
func (b *builder) lostCopies(end int64) []int32 {
	if b.copyCallEnds == nil {
		b.copyCallEnds = []endOf{}
		for thread, calls := range b.copyCalls {
			for _, c := range calls {
				if b.ofCall[c] == NoAct {
					b.copyCallEnds = append(b.copyCallEnds, endOf{b.d.Acts[c].End, int32(thread)})
				}
			}
		}
		sortEnds(b.copyCallEnds)
	}
	return whoEnds(b.copyCallEnds, end-2*us, end+b.d.Delays.Sync.Max)
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
