package cdg

import "sort"

var eventWaitsRule = rule{name: "waits without records", find: func(b *builder) { eventWaits{b}.find() }}

type eventWaits struct{ *builder }

// waitsInDoubt returns those of waitCalls whose records, if the trace has any, do not say what was waited for.
func (b eventWaits) waitsInDoubt(k ActID) []ActID {
	waits := b.waitCalls(k)
	if !b.sync.waitsUsed {
		return waits
	}
	var doubt []ActID
	for _, w := range waits {
		if !b.sync.resolved[w] && b.isFor(w, k) {
			doubt = append(doubt, w)
		}
	}
	return doubt
}

// isFor reports whether a wait call was made for an operation rather than for another stream: the next launch of its
// thread goes to the operation's stream, or comes after the operation's launch.
func (b eventWaits) isFor(wait, k ActID) bool {
	d := b.d
	launches := b.threads[d.Acts[wait].Lane].launches
	n := sort.Search(len(launches), func(i int) bool { return b.callLess(wait, launches[i]) })
	if n == len(launches) || !b.callLess(launches[n], b.launch[k]) {
		return true
	}
	return b.streamOf(launches[n]) == d.Acts[k].Lane
}

// find looks for what an operation waited for when nothing known explains its start. Where cuda_sync
// records say it, only operations without a recorded launch need that, since the records are joined by launch order, and
// those with a wait call that no record says enough of.
func (b eventWaits) find() {
	d := b.d
	if b.streamIDs != nil {
		return // the device recorded all of them
	}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for k := lane.First; k < lane.Limit; k++ {
			// A wait call itself may be older than the recording.
			_, joined := b.sync.joined[k]
			if x, by := b.inferEventWait(k); x != NoAct && !(joined && by == ByAlignment) {
				b.add(k, x, EventWait, by)
			}
		}
	}
}

func (b eventWaits) inferEventWait(k ActID) (ActID, Evidence) {
	d, cal := b.d, &b.d.Delays
	act := &d.Acts[k]
	p, call := b.pred[k], b.launch[k]
	release, gapStart := int64(-1<<62), int64(-1<<62)
	explained := false // a known release explains the start with a delay that happens
	if p != NoAct {
		end := d.Acts[p].End
		release, gapStart = end+cal.Kernel.Min, end
		explained = act.Start-end <= cal.Kernel.Max
	}
	if call != NoAct {
		from := b.launchedAt(k, call)
		r := from + cal.Launch.Min
		if b.graph[k] {
			r = max(r, d.Acts[call].End) // a graph launch is an ordinary launch, only slow
		}
		release, gapStart = max(release, r), max(gapStart, from)
		explained = explained || act.Start-from <= b.launchMax(k, call)
	}
	if x, ok := b.graphWait[k]; ok {
		if b.launch[x] == call && call != NoAct {
			return NoAct, 0 // inside a graph nothing else is waited for
		}
		release, explained = max(release, d.Acts[x].End+cal.Kernel.Min), explained || act.Start-d.Acts[x].End <= cal.Kernel.Max
	}
	if x, ok := b.sync.joined[k]; ok {
		release = max(release, d.Acts[x].End+cal.Kernel.Min)
		gapStart, explained = max(gapStart, d.Acts[x].End), explained || act.Start-d.Acts[x].End <= cal.Kernel.Max
	}
	if act.Start > release+max(3*us, 3*cal.Kernel.Min) {
		waits := b.waitsInDoubt(k)
		if x := b.sourceOfWaits(k, waits, true); x != NoAct {
			return x, ByAPI
		}
		if len(waits) > 0 && !explained {
			if x := b.sourceOfWaits(k, waits, false); x != NoAct {
				return x, ByAPI
			}
			if x := b.alignedSource(k, 200*us, gapStart, false); x != NoAct {
				return x, ByAPI
			}
		}
	}
	if call == NoAct && !explained {
		x := b.alignedSource(k, 8*us, gapStart, false)
		if x != NoAct && b.related(d.Acts[x].Lane, act.Lane) {
			return x, ByAlignment // closely followed: likelier than a launch that nobody saw
		}
	}
	if b.firstOp == 0 && !explained {
		return b.lastOfDevice(k, gapStart), ByAlignment
	}
	if p == NoAct && call == NoAct {
		return NoAct, 0
	}
	if act.Start > release+max(20*us, 10*cal.Kernel.Min) {
		return b.alignedSource(k, 30*us, gapStart, true), ByAlignment
	}
	if !explained {
		return b.alignedSource(k, 5*us, gapStart, true), ByAlignment
	}
	return NoAct, 0
}

// sourceOfWaits returns what an operation's wait calls can have stood for: an operation that was the last of its stream
// when an event was recorded before the last of the calls, by whatever thread. If asked, only streams that are related to
// its own count.
func (b eventWaits) sourceOfWaits(k ActID, waits []ActID, related bool) ActID {
	for i := len(waits) - 1; i >= 0; i-- {
		if wait := waits[i]; b.isFor(wait, k) {
			records := b.records[b.d.Lanes[b.d.Acts[wait].Lane].Proc]
			return b.recordedSource(k, related, func(x ActID) bool {
				if len(records) == 0 {
					return x == b.lastPutBefore(b.d.Acts[x].Lane, wait, b.d.Acts[k].Start+b.clockGrain)
				}
				return b.lastAtRecord(x, records, wait, false)
			})
		}
	}
	return NoAct
}

// mayHaveHeld reports whether an operation can be what another waited for.
func (b *facts) mayHaveHeld(x, k ActID) bool {
	d := b.d
	xa, ka := &d.Acts[x], &d.Acts[k]
	if xa.Lane == ka.Lane || xa.Start >= ka.Start || xa.Start == xa.End || !b.sameProcess(xa.Lane, ka.Lane) {
		return false
	}
	lx, lk := b.launch[x], b.launch[k]
	return lx == NoAct || lk == NoAct || d.Acts[lx].Start < d.Acts[lk].Start
}

// recordedSource picks, of the operations that stood, as asked, for an event, the one that ended last in
// [k.start - 200 µs, k.start]; if asked, only of streams that are related to that of k.
func (b *facts) recordedSource(k ActID, related bool, stood func(x ActID) bool) ActID {
	d := b.d
	act := &d.Acts[k]
	lo, hi := b.endsIn(act.Start-200*us-1, act.Start+b.clockGrain)
	for i := hi - 1; i >= lo; i-- {
		x := b.byEnd[i]
		if (!related || b.related(d.Acts[x].Lane, act.Lane)) && b.mayHaveHeld(x, k) && !(b.clockGrain == 1 && b.tooLate(x, k)) && stood(x) {
			return x
		}
	}
	return NoAct
}

// alignedSource picks the operation of another stream that ended last in [k.start - reach, k.start], of a related one
// if there is any; if asked, only one whose stream was busy for at least half of the gap.
func (b eventWaits) alignedSource(k ActID, reach, gapStart int64, busy bool) ActID {
	d := b.d
	act := &d.Acts[k]
	lo, hi := b.endsIn(act.Start-reach-1, act.Start+b.clockGrain)
	tried, other := NoLane, NoAct
	for i := hi - 1; i >= lo; i-- {
		x := b.byEnd[i]
		if l := d.Acts[x].Lane; !b.mayHaveHeld(x, k) || l == tried || b.clockGrain == 1 && b.tooLate(x, k) {
			continue
		} else if busy && !b.busyHalf(l, gapStart, act.Start) {
			tried = l
			continue
		} else if !b.related(l, act.Lane) {
			if other == NoAct {
				other = x
			}
			continue
		}
		return x
	}
	return other
}

// lastOfDevice picks the operation that ended last on other streams of k's device since from. In recordings of the device alone
// (rocprofv3 --kernel-trace, say) no record tells why anything starts; the path then shows when the device was at work and when it was not.
func (b eventWaits) lastOfDevice(k ActID, from int64) ActID {
	d := b.d
	for _, hi := b.endsIn(from, d.Acts[k].Start); hi > 0 && d.Acts[b.byEnd[hi-1]].End > from; hi-- {
		if x := b.byEnd[hi-1]; d.Lanes[d.Acts[x].Lane].Proc == d.Lanes[d.Acts[k].Lane].Proc && b.mayHaveHeld(x, k) {
			return x
		}
	}
	return NoAct
}

// busyHalf reports whether a stream ran operations for at least half of an interval.
func (b eventWaits) busyHalf(l LaneID, from, to int64) bool {
	d := b.d
	lane := &d.Lanes[l]
	lo, hi := lane.First, lane.Limit
	for lo < hi {
		if m := (lo + hi) / 2; d.Acts[m].Start < to {
			lo = m + 1
		} else {
			hi = m
		}
	}
	// Walk back along the operations that end last; what started before them lies under them or before.
	busy, t := int64(0), to
	for a := lo - 1; a >= lane.First && a < lo && t > from; {
		act := &d.Acts[a]
		if e := min(act.End, t); e > from {
			busy += max(0, e-max(act.Start, from))
		}
		if 2*busy >= to-from {
			return true
		}
		t = min(t, act.Start)
		p := b.pred[a]
		if p == NoAct {
			break
		}
		a = p
	}
	return 2*busy >= to-from
}
