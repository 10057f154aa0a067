package cdg

// waitCall returns the last cudaStreamWaitEvent of the launching thread between the launch before an operation on its
// stream and its own launch, or NoAct.
func (b *builder) waitCall(a ActID) ActID {
	call := b.launch[a]
	if call == NoAct {
		return NoAct
	}
	d := b.d
	waits := b.waits[d.Acts[call].Lane]
	if len(waits) == 0 {
		return NoAct
	}
	from := int64(-1 << 63)
	if i := b.pos[a]; i > 0 {
		from = d.Acts[b.launch[b.order[d.Acts[a].Lane][i-1]]].Start
	}
	lo, hi := 0, len(waits)
	for lo < hi {
		if m := (lo + hi) / 2; d.Acts[waits[m]].Start < d.Acts[call].Start {
			lo = m + 1
		} else {
			hi = m
		}
	}
	if lo == 0 || d.Acts[waits[lo-1]].Start <= from {
		return NoAct
	}
	return waits[lo-1]
}

// exactEventWaits joins what cuda_sync records of cudaStreamWaitEvent say: the operation put last on the recording
// stream before the record holds back the next operation of the waiting stream.
func (b *builder) exactEventWaits() {
	if !b.sync.waitsUsed {
		return
	}
	d := b.d
	for l := range b.waits {
		for _, wait := range b.waits[l] {
			r, ok := b.sync.of[wait]
			if !ok || r.stream < 0 || r.waitStream < 0 {
				continue
			}
			t, ok := b.recordTime(wait, r)
			if !ok {
				continue
			}
			for _, from := range b.streams(r.device, r.waitStream) {
				x := b.lastLaunchedBefore(from, t)
				if x == NoAct {
					continue
				}
				for _, to := range b.streams(r.device, r.stream) {
					k := b.firstLaunchedAfter(to, d.Acts[wait].Start)
					if k == NoAct || to == from {
						continue
					}
					// Clocks of one device agree; a wait that ends after its waiter started is a wrong record.
					if d.Acts[x].End > d.Acts[k].Start+b.tick {
						b.quality["event_waits_rejected"]++
						continue
					}
					b.add(k, x, EventWait, BySyncEvent)
				}
			}
		}
	}
}

// graphOrder lets operations of one graph launch wait for each other across streams, and what is launched next on
// any stream that a graph used wait for all of the graph.
func (b *builder) graphOrder() {
	d := b.d
	last := map[ActID]ActID{} // per graph launch: its operation with the latest end
	for _, a := range b.byEnd {
		if b.graph[a] {
			last[b.launch[a]] = a
		}
	}
	if len(last) == 0 {
		return
	}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			if b.graph[a] {
				if x := b.graphSource(a); x != NoAct {
					b.add(a, x, GraphOrder, ByGraph)
				}
			}
			i := b.pos[a]
			if i <= 0 {
				continue
			}
			before := b.order[l][i-1]
			if !b.graph[before] || b.launch[before] == b.launch[a] {
				continue
			}
			if x := last[b.launch[before]]; d.Acts[x].Lane != LaneID(l) && d.Acts[x].End <= d.Acts[a].Start+b.tick && d.Acts[x].Start < d.Acts[a].Start {
				b.add(a, x, GraphOrder, ByGraph)
			}
		}
	}
}

// graphSource returns the operation of the same graph launch, on another stream, that ended last before k started.
func (b *builder) graphSource(k ActID) ActID {
	d := b.d
	act := &d.Acts[k]
	from := act.Start - 30*us
	if p := b.pred[k]; p != NoAct {
		from = max(from, d.Acts[p].End+d.Cal.Kmin)
	}
	lo, hi := b.endsIn(from-1, act.Start+b.tick)
	for i := hi - 1; i >= lo; i-- {
		x := b.byEnd[i]
		if b.launch[x] == b.launch[k] && d.Acts[x].Lane != act.Lane && d.Acts[x].Start < act.Start {
			return x
		}
	}
	return NoAct
}

// inferEventWaits looks for what an operation waited for when nothing known explains its start.
func (b *builder) inferEventWaits() {
	if b.sync.waitsUsed {
		return
	}
	d := b.d
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		for k := lane.First; k < lane.Limit; k++ {
			if x, by := b.inferEventWait(k); x != NoAct {
				b.add(k, x, EventWait, by)
			}
		}
	}
}

func (b *builder) inferEventWait(k ActID) (ActID, Evidence) {
	d, cal := b.d, &b.d.Cal
	act := &d.Acts[k]
	p, call := b.pred[k], b.launch[k]
	if p == NoAct && call == NoAct {
		return NoAct, 0
	}
	release, gapStart := int64(-1<<63), int64(-1<<63)
	if p != NoAct {
		release, gapStart = d.Acts[p].End+cal.Kmin, d.Acts[p].End
	}
	if call != NoAct {
		r := d.Acts[call].Start + cal.Lmin
		if b.graph[k] {
			r = max(r, d.Acts[call].End) // a graph launch is an ordinary launch, only slow
		}
		release, gapStart = max(release, r), max(gapStart, d.Acts[call].Start)
	}
	wait := b.waitCall(k)
	slack, reach := max(20*us, 10*cal.Kmin), int64(30*us)
	if wait != NoAct {
		slack, reach = max(3*us, 3*cal.Kmin), 200*us
	}
	if act.Start <= release+slack {
		return NoAct, 0
	}
	x := b.waitCandidate(k, wait, reach, gapStart)
	if wait != NoAct {
		return x, ByAPI
	}
	return x, ByAlignment
}

// waitCandidate picks the operation of another stream that ended last in [k.start - reach, k.start]; with a wait
// call, the one put last on its stream before that call stands for its stream.
func (b *builder) waitCandidate(k, wait ActID, reach, gapStart int64) ActID {
	d := b.d
	act := &d.Acts[k]
	lo, hi := b.endsIn(act.Start-reach-1, act.Start+b.tick)
	best := NoAct
	var seen [64]LaneID
	n := 0
next:
	for i := hi - 1; i >= lo; i-- {
		x := b.byEnd[i]
		xa := &d.Acts[x]
		if xa.Lane == act.Lane || xa.Start >= act.Start || xa.Start == xa.End || !b.sameProcess(xa.Lane, act.Lane) {
			continue
		}
		if lk, lx := b.launch[k], b.launch[x]; lk != NoAct && lx != NoAct && d.Acts[lx].Start >= d.Acts[lk].Start {
			continue
		}
		for _, s := range seen[:n] {
			if s == xa.Lane {
				continue next
			}
		}
		if n < len(seen) {
			seen[n] = xa.Lane
			n++
		}
		if wait != NoAct {
			if y := b.lastLaunchedBefore(xa.Lane, d.Acts[wait].Start); y != NoAct {
				ya := &d.Acts[y]
				if ya.End >= act.Start-reach && ya.End <= act.Start+b.tick && ya.Start < act.Start && ya.Start < ya.End {
					x, xa = y, ya
				}
			}
		} else if !b.busyHalf(xa.Lane, gapStart, act.Start) {
			continue
		}
		if best == NoAct || xa.End > d.Acts[best].End {
			best = x
		}
	}
	return best
}

// busyHalf reports whether a stream ran operations for at least half of an interval.
func (b *builder) busyHalf(l LaneID, from, to int64) bool {
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
