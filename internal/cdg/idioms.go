package cdg

import "slices"

// nearFork is how many launches after a run of waits are looked at for the streams that were made to wait.
const nearFork = 64

// idiomWaits adds waits that the order of calls says and that no cuda_sync record names: of libraries and of PyTorch,
// which record an event and let another stream wait for it at once, or with one launch between. What was put last on the
// stream of the launch before the record holds back what is launched next after the wait; several waits behind one record
// are a fork, which holds back the first operation of each other stream. Most of them were satisfied long before, and
// are known so because a run with something shortened may make them bind.
func (b *builder) idiomWaits() {
	d := b.d
	if b.streamIDs != nil {
		return // the device recorded all of them
	}
	found := map[ActID]bool{} // operations that are known to have waited
	for i := range b.found {
		if f := &b.found[i]; f.Rule == EventWait || f.Rule == GraphOrder {
			found[f.to] = true
		}
	}
	var calls []ActID
	for _, waits := range b.waits {
		for i := 0; i < len(waits); i++ {
			w := waits[i]
			t := &b.threads[d.Acts[w].Lane]
			n := b.callsBefore(t.records, w)
			if b.sync.waitsUsed && b.sync.resolved[w] || n == 0 {
				continue
			}
			record := t.records[n-1]
			before, after := b.callsBefore(t.launches, record), b.callsBefore(t.launches, w)
			if before == 0 || after == len(t.launches) || after > before+1 {
				continue
			}
			from := b.streamOf(t.launches[before-1])
			if from == NoLane {
				continue
			}
			calls = append(calls[:0], t.launches[after])
			if after == before && b.forks(waits, w, record) {
				calls = t.launches[after:min(after+nearFork, len(t.launches))]
			}
			b.heldBack(from, record, calls, found)
		}
	}
}

// callsBefore is how many of a thread's calls came before another.
func (b *builder) callsBefore(calls []ActID, c ActID) int {
	n, _ := slices.BinarySearchFunc(calls, c, func(x, c ActID) int {
		if b.callLess(x, c) {
			return -1
		}
		return 1
	})
	return n
}

// forks reports whether a second wait of the thread follows before it launches anything.
func (b *builder) forks(waits []ActID, w, record ActID) bool {
	d := b.d
	launches := b.threads[d.Acts[w].Lane].launches
	n, more := b.callsBefore(waits, record), 0
	for ; n < len(waits) && more < 2; n++ {
		if x := waits[n]; d.Acts[x].Lane == d.Acts[w].Lane {
			if b.callsBefore(launches, x) != b.callsBefore(launches, w) || b.callsBefore(b.threads[d.Acts[w].Lane].records, x) != b.callsBefore(b.threads[d.Acts[w].Lane].records, w) {
				break
			}
			more++
		}
	}
	return more > 1
}

// heldBack lets the first operation that calls put on each other stream wait for the last one put on a stream before a
// record.
func (b *builder) heldBack(from LaneID, record ActID, calls []ActID, found map[ActID]bool) {
	d := b.d
	var seen []LaneID
	for _, c := range calls {
		to := b.streamOf(c)
		if to == NoLane || to == from || slices.Contains(seen, to) {
			continue
		}
		seen = append(seen, to)
		k := b.ofCall[c]
		x := b.lastLaunchedBefore(from, record)
		if x == NoAct || b.graph[k] || found[k] || !b.mayHaveHeld(x, k) || d.Acts[x].End > d.Acts[k].Start {
			continue
		}
		found[k] = true
		b.add(k, x, EventWait, ByAPI)
	}
}
