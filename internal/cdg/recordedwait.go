package cdg

import (
	"cmp"
	"slices"
)

var recordedWaitsRule = rule{name: "recorded waits", find: func(b *builder) { recordedWaits{b}.find() }}

type recordedWaits struct{ *builder }

// find joins what cuda_sync records of cudaStreamWaitEvent say: the operation put last on the recording
// stream before the record holds back the next operation of the waiting stream.
func (b recordedWaits) find() {
	if !b.sync.waitsUsed {
		return
	}
	defer func() {
		for _, list := range b.sync.pending {
			slices.SortStableFunc(list, func(x, y pending) int { return cmp.Or(b.callOrder(x.wait, y.wait), cmp.Compare(x.source, y.source)) })
		}
	}()
	for _, waits := range b.waits {
		for _, wait := range waits {
			r, ok := b.sync.of[wait]
			if !ok || r.stream < 0 {
				continue
			}
			record, ok := b.recordOf(wait, r)
			if !ok {
				continue
			}
			lanes := b.waitingLanes(wait, r, 1)
			for _, to := range lanes {
				b.recordedWait(to, wait, record, r)
			}
			if len(lanes) == 0 {
				b.handOn(wait, record, r)
			}
		}
	}
}

// recordedWait holds back the first operation put on a stream behind a wait call by what was put last on the recording
// stream before the record. Where that stream is a guess that does not fit, any stream's last operation may be it.
func (b recordedWaits) recordedWait(to LaneID, wait, record ActID, r syncRecord) {
	d := b.d
	k := b.firstLaunchedAfter(to, wait)
	end := int64(1 << 62)
	if k != NoAct {
		end = d.Acts[k].Start + b.clockGrain
	}
	behind, by := b.recordedBehind(record, r, end)
	found, rejected := false, false
	defer func() {
		if len(behind) > 0 && (found || !rejected) {
			b.sync.resolved[wait] = true
		}
	}()
	for _, x := range behind {
		if d.Acts[x].Lane == to {
			continue
		}
		b.sync.pending[to] = append(b.sync.pending[to], pending{wait, x})
		if k == NoAct {
			continue
		}
		// Clocks of one device agree; a wait that ends after its waiter started is a wrong record.
		if d.Acts[x].End <= end {
			b.join(k, x, by)
			found = true
		} else if by == BySyncEvent {
			rejected = true
			b.quality["event_waits_rejected"]++
		}
	}
	if k == NoAct || by == BySyncEvent || found {
		return
	}
	last := func(x ActID) bool { return x == b.lastPutBefore(d.Acts[x].Lane, record, end) }
	if x := b.recordedSource(k, false, last); x != NoAct {
		b.join(k, x, by)
		found = true
	}
}

// handOn notes what a stream without operations was made to wait for, such as one from which only collectives are started, which have a stream of
// their own: who waits for it waits for that.
func (b recordedWaits) handOn(wait, record ActID, r syncRecord) {
	behind, by := b.recordedBehind(record, r, 1<<62)
	b.sync.resolved[wait] = by == BySyncEvent
	key := streamKey{int64(b.d.Lanes[b.d.Acts[wait].Lane].Proc), r.stream}
	list := b.sync.idle[key]
	if n := len(list); n > 0 {
		behind = append(behind, list[n-1].source)
	}
	if len(behind) > 0 {
		last := slices.MaxFunc(behind, func(x, y ActID) int { return cmp.Compare(b.d.Acts[x].End, b.d.Acts[y].End) })
		b.sync.idle[key] = append(list, pending{wait, last})
	}
}

// join adds a wait that a record names.
func (b recordedWaits) join(k, x ActID, by Evidence) {
	if y, ok := b.sync.joined[k]; !ok || b.d.Acts[x].End > b.d.Acts[y].End {
		b.sync.joined[k] = x
	}
	b.add(k, x, EventWait, by)
}
