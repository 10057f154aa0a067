package cdg

import "sort"

// blockingCalls finds for each call that waits for the GPU the operation that it waited for (rule 5).
func (b *builder) blockingCalls() {
	var waits []callWait
	var far []int64 // distances of calls that certainly waited
	d := b.d
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			switch c := b.class(a); c {
			case streamSync, deviceSync, eventSync, freeCall:
				w := b.callWait(a, c)
				if w.op == NoAct {
					continue
				}
				waits = append(waits, w)
				if act := &d.Acts[a]; act.End-act.Start > 50*us && w.by != ByAlignment {
					far = append(far, max(0, act.End-d.Acts[w.op].End))
				}
			}
		}
	}
	cal := &d.Cal
	cal.SyncSamples = len(far)
	cal.SyncMin, cal.SyncMax = us, 50*us
	if sortInt64(far); len(far) >= enough {
		cal.SyncMin = min(quantile(far, 0.1)*7/10, 5*us)
		cal.SyncMax = max(50*us, 3*quantile(far, 0.5))
	}
	b.recall()
	for _, w := range waits {
		act := &d.Acts[w.call]
		dist := act.End - d.Acts[w.op].End
		if dist > cal.SyncMax || act.End-act.Start < 30*us && dist < cal.SyncMin {
			continue // the call returned for another reason: its time is its own
		}
		b.add(w.call, w.op, Sync, w.by)
	}
	b.copyWaits()
}

// callWait is a call with the operation that it may have waited for.
type callWait struct {
	call, op ActID
	by       Evidence
}

func (b *builder) callWait(c ActID, class callClass) callWait {
	d := b.d
	act := &d.Acts[c]
	inside := func(g ActID) bool {
		return g != NoAct && d.Acts[g].End > act.Start && d.Acts[g].End <= act.End+2*us
	}
	if r, ok := b.sync.of[c]; ok {
		t, stream := act.Start, r.stream
		known := class == streamSync && stream >= 0
		if class == eventSync && r.waitStream >= 0 {
			if at, ok := b.recordTime(c, r); ok {
				t, stream, known = at, r.waitStream, true
			}
		}
		if known {
			best := NoAct
			for _, s := range b.streams(r.device, stream) {
				if g := b.lastLaunchedBefore(s, t); inside(g) && (best == NoAct || d.Acts[g].End > d.Acts[best].End) {
					best = g
				}
			}
			return callWait{c, best, BySyncEvent}
		}
	}
	if class == streamSync {
		launches := b.threads[act.Lane].launches
		n := sort.Search(len(launches), func(i int) bool { return d.Acts[launches[i]].Start >= act.Start })
		if n > 0 {
			if s := b.streamOf(launches[n-1]); s != NoLane {
				if g := b.lastLaunchedBefore(s, act.Start); inside(g) {
					return callWait{c, g, ByAPI}
				}
				if b.copiesFor(launches[n-1], c) {
					return callWait{c, NoAct, ByAPI} // the stream is certain, and it was idle
				}
			}
		}
	}
	records := b.records[d.Lanes[act.Lane].Proc]
	lo, hi := b.endsIn(act.Start, act.End+2*us)
	for i := hi - 1; i >= lo; i-- {
		g := b.byEnd[i]
		if !b.launchedBefore(g, act.Start) || d.Acts[g].Start >= act.End || !b.sameProcess(d.Acts[g].Lane, act.Lane) {
			continue
		}
		if class == eventSync && len(records) > 0 && !b.lastAtRecord(g, records) {
			continue
		}
		return callWait{c, g, ByAPI}
	}
	return callWait{c, NoAct, ByAPI}
}

// copiesFor reports whether a launch is the copy that a synchronisation in the same op waits for.
func (b *builder) copiesFor(launch, sync ActID) bool {
	class := b.class(launch)
	return (class == asyncCopy || class == blockingCopy) && b.d.Parent[launch] == b.d.Parent[sync] && b.d.Parent[sync] != NoAct
}

// streamOf returns the stream of the operations of a launch.
func (b *builder) streamOf(call ActID) LaneID {
	if b.ofCall == nil {
		b.ofCall = make([]ActID, len(b.d.Acts))
		for i := range b.ofCall {
			b.ofCall[i] = NoAct
		}
		for a, l := range b.launch {
			if l != NoAct {
				b.ofCall[l] = ActID(a)
			}
		}
	}
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

// copyWaits lets a copy call wait for its own copy: when it is not Async, or one side is pageable memory.
func (b *builder) copyWaits() {
	d := b.d
	for a := range b.launch {
		call := b.launch[a]
		if call == NoAct {
			continue
		}
		class := b.class(call)
		if class != blockingCopy && class != asyncCopy {
			continue
		}
		if class == asyncCopy && b.calls[b.event(ActID(a)).Name] != pageableCopy {
			continue
		}
		op, c := &d.Acts[a], &d.Acts[call]
		if op.End > c.Start && op.End <= c.End+2*us && op.Start < c.End {
			b.add(call, ActID(a), Sync, ByAPI)
		}
	}
}
