package cdg

import "sort"

var blockingRule = rule{name: "blocking calls", find: func(b *builder) { (&callWaits{builder: b}).find() }}

// callWaits measures how blocking calls return, and finds what they waited for by that.
type callWaits struct {
	*builder
	farthest map[callClass]int64 // the longest from the end of an operation to the return of a call of a kind that waited for it; absent: Delays.Sync.Max
}

// find finds for each call that waits for the GPU the operation that it waited for.
// A first pass measures the time from the end of the operation to the return of the call, for each kind of call by itself;
// the second takes only operations at such a distance.
func (b *callWaits) find() {
	calls := b.syncCalls
	b.calibrateIdle(calls)
	b.calibrateReturns(calls)
	b.recall()
	for _, c := range calls {
		if w := b.callWait(c); w.op != NoAct {
			b.add(c, w.op, Sync, w.by)
		}
	}
}

// calibrateReturns measures the time from the end of an operation to the return of calls that waited for it: over long calls,
// or over the calls whose awaited operation is certain, where there are enough of these.
func (b *callWaits) calibrateReturns(calls []ActID) {
	d := b.d
	cal := &d.Delays.Sync
	cal.Min, cal.Max = 0, 1<<62
	var far, sure []int64
	certain := map[callClass][]int64{}
	for _, c := range calls {
		act := &d.Acts[c]
		if act.End-act.Start <= 50*us {
			continue
		}
		w := b.callWait(c)
		if w.op == NoAct {
			continue
		}
		dist := max(0, act.End-d.Acts[w.op].End)
		far = append(far, dist)
		if class := b.class(c); w.by == BySyncEvent || class == freeCall || class == deviceSync && b.oneDevice {
			certain[class] = append(certain[class], dist)
			if class != freeCall { // which does more than wait
				sure = append(sure, dist)
			}
		}
	}
	cal.Samples = len(far)
	if len(sure) >= enough {
		far = sure
	}
	cal.Min, cal.Max = us, 50*us
	if len(far) >= enough {
		median := quantile(far, 0.5)
		cal.Min = min(max(quantile(far, 0.1)*7/10, median*4/10), 5*us)
		cal.Max = max(50*us, 3*median)
	}
	b.farthest = map[callClass]int64{}
	for class, list := range certain {
		if len(list) >= enough {
			b.farthest[class] = max(50*us, 3*quantile(list, 0.5))
		}
	}
	if b.oneDevice { // what they wait for is all that was launched before, so that it is certain without a look at times
		b.farthest[deviceSync], b.farthest[freeCall] = 1<<62, 1<<62
	}
}

// longIdle is as much as a blocking call without anything to wait for ever takes.
const longIdle = 30 * us

// calibrateIdle measures how long blocking calls take during which no operation ended: a call that took twice as long
// waited for something.
func (b *callWaits) calibrateIdle(calls []ActID) {
	var idle []int64
	for _, c := range calls {
		act := &b.d.Acts[c]
		if lo, hi := b.endsIn(act.Start, act.End+2*us); lo == hi {
			idle = append(idle, act.End-act.Start)
		}
	}
	b.d.Delays.Idle = 12 * us
	if len(idle) >= enough {
		b.d.Delays.Idle = min(2*quantile(idle, 0.9), longIdle)
	}
	b.recall()
}

// returned tells how an operation's end fits the return of a call: 2 it fits, 1 it is too close, 0 it does not.
func (b *callWaits) returned(c, g ActID) int {
	act, end := &b.d.Acts[c], b.d.Acts[g].End
	most, ok := b.farthest[b.class(c)]
	if !ok {
		most = b.d.Delays.Sync.Max
	}
	switch dist := act.End - end; {
	case end <= act.Start, dist < -2*us, dist > most:
		return 0
	case dist >= b.d.Delays.Sync.Min:
		return 2
	case act.End-act.Start < b.d.Delays.Idle:
		return 0 // a call that took no longer than without a wait returns by itself
	}
	return 1
}

// outlasts reports whether an operation ran when a call returned, by their times. A record that names it outranks them: the clock of the device may
// be late where nothing tells by how much.
func (b *callWaits) outlasts(c, g ActID) bool {
	return b.d.Acts[g].Start < b.d.Acts[c].End && b.d.Acts[g].End > b.d.Acts[c].End
}

func (b *callWaits) callWait(c ActID) callWait {
	d := b.d
	act, class := &d.Acts[c], b.class(c)
	if r, ok := b.sync.of[c]; ok {
		var found []ActID
		by, known := BySyncEvent, false
		if class == streamSync && r.stream >= 0 {
			found, known = b.putBehind(b.waitingLanes(c, r, -1), c, act.End+2*us), true
		}
		if class == eventSync {
			if record, ok := b.recordOf(c, r); ok {
				found, by = b.recordedBehind(record, r, act.End+2*us)
				known = true
			}
		}
		if known {
			best := NoAct
			for _, g := range found {
				if (b.returned(c, g) > 0 || by == BySyncEvent && b.outlasts(c, g)) && (best == NoAct || d.Acts[g].End > d.Acts[best].End) {
					best = g
				}
			}
			if best != NoAct || by == BySyncEvent {
				return callWait{c, best, by}
			}
		}
	}
	if s := b.streamNamed(c); s != NoLane && (class == streamSync || class == submit) {
		if g := b.lastPutBefore(s, c, act.End+2*us); g != NoAct && b.returned(c, g) > 0 {
			return callWait{c, g, ByAPI}
		}
		return callWait{c, NoAct, ByAPI}
	}
	if class == streamSync {
		launches := b.threads[act.Lane].launches
		n := sort.Search(len(launches), func(i int) bool { return !b.callLess(launches[i], c) })
		if n > 0 {
			if g := b.lastPutBefore(b.streamOf(launches[n-1]), c, act.End+2*us); g != NoAct && b.returned(c, g) > 0 {
				return callWait{c, g, ByAPI}
			}
			if b.copiesFor(launches[n-1], c) {
				return callWait{c, NoAct, ByAPI} // the stream is certain, and it was idle
			}
		}
	}
	records := b.records[d.Lanes[act.Lane].Proc]
	if class == eventSync && len(records) > 0 {
		if g := b.endedIn(c, func(g ActID) bool { return b.lastAtRecord(g, records, c, true) }); g != NoAct {
			return callWait{c, g, ByAPI}
		}
	}
	return callWait{c, b.endedIn(c, func(g ActID) bool {
		return class != eventSync || len(records) == 0 || b.lastAtRecord(g, records, c, false)
	}), ByAPI}
}

// endedIn returns, of the operations launched before a call that count, the one that ended last in it at a distance from its
// return that fits; where there is none, the one that ended last too close to it.
func (b *callWaits) endedIn(c ActID, counts func(g ActID) bool) ActID {
	d := b.d
	act, class := &d.Acts[c], b.class(c)
	close := NoAct
	lo, hi := b.endsIn(act.Start, act.End+2*us)
	for i := hi - 1; i >= lo; i-- {
		g := b.byEnd[i]
		if !b.launchedBefore(g, act.Start) || d.Acts[g].Start >= act.End || !b.sameProcess(d.Acts[g].Lane, act.Lane) || !counts(g) {
			continue
		}
		switch b.returned(c, g) {
		case 2:
			return g
		case 1:
			if class == deviceSync && b.launch[g] != NoAct && b.oneDevice {
				return g // it waits for all that was launched before, however late it ends
			}
			if close == NoAct {
				close = g
			}
		case 0:
			return close // earlier ends fit less
		}
	}
	return close
}

// copiesFor reports whether a launch is the copy that a synchronisation in the same op waits for.
func (b *callWaits) copiesFor(launch, sync ActID) bool {
	class := b.class(launch)
	return (class == asyncCopy || class == blockingCopy) && b.d.Parent[launch] == b.d.Parent[sync] && b.d.Parent[sync] != NoAct
}

// lastAtRecord reports whether an operation was the last of its stream when some event was recorded before a call; if asked,
// by a thread that had launched on that stream last.
func (b *facts) lastAtRecord(g ActID, records []ActID, before ActID, there bool) bool {
	call := b.launch[g]
	if call == NoAct {
		return !there
	}
	lane := b.d.Acts[g].Lane
	order := b.order[lane]
	next := NoAct
	for i := int(b.pos[g]) + 1; i < len(order) && next == NoAct; i++ {
		if l := b.launch[order[i]]; l != call {
			next = l
		}
	}
	n := sort.Search(len(records), func(i int) bool { return b.callLess(call, records[i]) })
	for i := n; i < min(n+nearRecords, len(records)) && b.callLess(records[i], before) && (next == NoAct || b.callLess(records[i], next)); i++ {
		if !there || b.launchedLast(records[i]) == lane {
			return true
		}
	}
	return false
}

// nearRecords is how many records of events behind a launch are looked at for one that its stream was meant by.
const nearRecords = 8
