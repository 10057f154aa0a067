package cdg

import "sort"

// blockingCalls finds for each call that waits for the GPU the operation that it waited for.
// A first pass measures the time from the end of the operation to the return of calls that certainly waited; the
// second takes only operations at such a distance.
func (b *builder) blockingCalls() {
	d := b.d
	cal := &d.Delays
	calls := b.syncCalls
	b.calibrateIdle(calls)
	cal.Sync.Min, cal.Sync.Max = 0, 1<<62
	var far []int64
	for _, c := range calls {
		if act := &d.Acts[c]; act.End-act.Start > 50*us {
			if w := b.callWait(c); w.op != NoAct {
				far = append(far, max(0, act.End-d.Acts[w.op].End))
			}
		}
	}
	cal.Sync.Samples = len(far)
	cal.Sync.Min, cal.Sync.Max = us, 50*us
	if len(far) >= enough {
		median := quantile(far, 0.5)
		cal.Sync.Min = min(max(quantile(far, 0.1)*7/10, median*4/10), 5*us)
		cal.Sync.Max = max(50*us, 3*median)
	}
	b.recall()
	for _, c := range calls {
		if w := b.callWait(c); w.op != NoAct {
			b.add(c, w.op, Sync, w.by)
		}
	}
	b.copyWaits()
}

// longIdle is as much as a blocking call without anything to wait for ever takes.
const longIdle = 30 * us

// calibrateIdle measures how long blocking calls take during which no operation ended: a call that took twice as long
// waited for something.
func (b *builder) calibrateIdle(calls []ActID) {
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
func (b *builder) returned(c, g ActID) int {
	act, end := &b.d.Acts[c], b.d.Acts[g].End
	switch dist := act.End - end; {
	case end <= act.Start, dist < -2*us, dist > b.d.Delays.Sync.Max:
		return 0
	case dist >= b.d.Delays.Sync.Min:
		return 2
	case act.End-act.Start < b.d.Delays.Idle:
		return 0 // a call that took no longer than without a wait returns by itself
	}
	return 1
}

// callWait is a call with the operation that it may have waited for.
type callWait struct {
	call, op ActID
	by       Evidence
}

func (b *builder) callWait(c ActID) callWait {
	d := b.d
	act, class := &d.Acts[c], b.class(c)
	if r, ok := b.sync.of[c]; ok {
		before, by, known := c, BySyncEvent, false
		var lanes []LaneID
		if class == streamSync && r.stream >= 0 {
			lanes, known = b.waitingLanes(c, r, -1), true
		}
		if class == eventSync {
			if record, ok := b.recordOf(c, r); ok {
				lanes, by = b.recordLanes(record, r)
				before, known = record, true
			}
		}
		if known {
			best := NoAct
			try := func(g ActID) {
				if g != NoAct && b.returned(c, g) > 0 && (best == NoAct || d.Acts[g].End > d.Acts[best].End) {
					best = g
				}
			}
			for _, s := range lanes {
				try(b.lastPutBefore(s, before, act.End+2*us))
				for _, p := range b.pendingAt(s, before) {
					try(p.source)
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
	if class == eventSync {
		if g := b.recordedByThread(c); g != NoAct {
			return callWait{c, g, ByAPI}
		}
	}
	records := b.records[d.Lanes[act.Lane].Proc]
	close := NoAct
	lo, hi := b.endsIn(act.Start, act.End+2*us)
	for i := hi - 1; i >= lo; i-- {
		g := b.byEnd[i]
		if !b.launchedBefore(g, act.Start) || d.Acts[g].Start >= act.End || !b.sameProcess(d.Acts[g].Lane, act.Lane) {
			continue
		}
		if class == eventSync && len(records) > 0 && !b.lastAtRecord(g, records) {
			continue
		}
		switch b.returned(c, g) {
		case 2:
			return callWait{c, g, ByAPI}
		case 1:
			if class == deviceSync && b.launch[g] != NoAct && b.oneDevice {
				return callWait{c, g, ByAPI} // it waits for all that was launched before, however late it ends
			}
			if close == NoAct {
				close = g
			}
		case 0:
			return callWait{c, close, ByAPI} // earlier ends fit less
		}
	}
	return callWait{c, close, ByAPI}
}

// pendingAt is what a stream was made to wait for before a call and behind which nothing had been put by then: whoever waits
// for the stream waits for that too.
func (b *builder) pendingAt(s LaneID, call ActID) []pending {
	list := b.sync.pending[s]
	lo, hi := 0, sort.Search(len(list), func(i int) bool { return !b.callLess(list[i].wait, call) })
	if last := b.lastLaunchedBefore(s, call); last != NoAct {
		lo = sort.Search(hi, func(i int) bool { return b.callLess(b.launch[last], list[i].wait) })
	}
	return list[lo:hi]
}

// recordedByThread picks, of the operations that the last few events of the thread stand for, the one with the latest
// end that fits the return of an event synchronisation; where none does, that of the event recorded last, even if its end
// is closer to the return than usual.
func (b *builder) recordedByThread(c ActID) ActID {
	d := b.d
	t := &b.threads[d.Acts[c].Lane]
	best, close := NoAct, NoAct
	n := sort.Search(len(t.records), func(i int) bool { return !b.callLess(t.records[i], c) })
	for i := n - 1; i >= max(0, n-8); i-- {
		record := t.records[i]
		m := sort.Search(len(t.launches), func(j int) bool { return !b.callLess(t.launches[j], record) })
		if m == 0 {
			continue
		}
		g := b.lastPutBefore(b.streamOf(t.launches[m-1]), record, d.Acts[c].End+2*us)
		if g == NoAct {
			continue
		}
		switch b.returned(c, g) {
		case 2:
			if best == NoAct || d.Acts[g].End > d.Acts[best].End {
				best = g
			}
		case 1:
			if i == n-1 {
				close = g
			}
		}
	}
	if best == NoAct {
		return close
	}
	return best
}

// copiesFor reports whether a launch is the copy that a synchronisation in the same op waits for.
func (b *builder) copiesFor(launch, sync ActID) bool {
	class := b.class(launch)
	return (class == asyncCopy || class == blockingCopy) && b.d.Parent[launch] == b.d.Parent[sync] && b.d.Parent[sync] != NoAct
}

// streamOf returns the stream of the operations of a launch.
func (b *builder) streamOf(call ActID) LaneID {
	if a := b.ofCall[call]; a != NoAct {
		return b.d.Acts[a].Lane
	}
	return NoLane
}

// lastAtRecord reports whether an operation was the last of its stream when some event was recorded.
func (b *builder) lastAtRecord(g ActID, records []int64) bool {
	call := b.launch[g]
	if call == NoAct {
		return true
	}
	d := b.d
	n := sort.Search(len(records), func(i int) bool { return records[i] >= d.Acts[call].Start })
	if n == len(records) {
		return false
	}
	order := b.order[d.Acts[g].Lane]
	for i := int(b.pos[g]) + 1; i < len(order); i++ {
		if next := b.launch[order[i]]; next != call {
			return records[n] <= d.Acts[next].Start
		}
	}
	return true
}
