package cdg

import (
	"slices"
	"sort"
	"strings"

	"overlay/internal/clock"
	"overlay/internal/trace"
)

const (
	streamArg     = "stream"
	waitStreamArg = "wait_on_stream"
	deviceArg     = "device"
)

// readSyncRecords reads the cuda_sync records, if the trace has any.
func (b *builder) readSyncRecords() {
	tr, d := b.tr, b.d
	records := b.sync.records
	if len(records) == 0 {
		return
	}
	b.sync = syncRecords{records: records, of: map[ActID]syncRecord{}, recordAt: map[corrKey]ActID{}, byStream: map[streamKey][]LaneID{}, byNumber: map[int64][]LaneID{}, stream: map[int64]int64{},
		pending: map[LaneID][]pending{}, idle: map[streamKey][]pending{}, resolved: map[ActID]bool{}, joined: map[ActID]ActID{}}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == trace.EventRecord && e.Ph == 'X' && e.Flags&trace.HasCorr != 0 {
			if s := b.argOr(trace.EventID(i), streamArg); s >= 0 {
				b.sync.stream[tr.Corr(e)] = s
			}
		}
	}
	calls := map[int64][]ActID{}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			key := streamKey{tr.Procs[lane.Proc].Device, lane.Number}
			b.sync.byStream[key] = append(b.sync.byStream[key], LaneID(l))
			b.sync.byNumber[key.stream] = append(b.sync.byNumber[key.stream], LaneID(l))
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			e := b.event(a)
			if !e.Kind.Call() || e.Flags&trace.HasCorr == 0 {
				continue
			}
			switch b.calls[e.Name] {
			case eventRecord:
				b.sync.recordAt[corrKey{lane.Proc, tr.Corr(e)}] = a
			case streamSync, deviceSync, eventSync, streamWait:
				calls[tr.Corr(e)] = append(calls[tr.Corr(e)], a)
			}
		}
	}
	for _, id := range records {
		e := &tr.Events[id]
		r := syncRecord{b.argOr(id, streamArg), b.argOr(id, waitStreamArg), b.argOr(id, clock.RecordCorrArg), b.argOr(id, deviceArg)}
		if len(calls[tr.Corr(e)]) != 1 { // no such call, or several processes in one file
			b.quality["sync_records_without_call"]++
			continue
		}
		b.sync.devices = b.sync.devices || r.device > 0
		call := calls[tr.Corr(e)][0]
		b.sync.of[call] = r
		if b.class(call) == streamWait {
			if _, ok := b.recordOf(call, r); ok {
				b.sync.waitsUsed = true
			} else if strings.Contains(tr.Name(id), "Wait") {
				b.quality["sync_records_unresolved"]++
			}
		}
	}
}

// recordOf returns the call that recorded the event of a wait. A record later than the wait is a re-used event id.
func (b *facts) recordOf(wait ActID, r syncRecord) (ActID, bool) {
	if r.recordCorr < 0 {
		return NoAct, false
	}
	call, ok := b.sync.recordAt[corrKey{b.d.Lanes[b.d.Acts[wait].Lane].Proc, r.recordCorr}]
	if ok && b.callLess(wait, call) {
		b.quality["sync_records_of_a_later_record"]++
		return NoAct, false
	}
	return call, ok
}

// recordLanes returns the streams on which an event was recorded, and on what evidence. Where the record of the wait
// does not name it, the record of the event does; without one it is the stream on which the thread that recorded the
// event launched last.
func (b *facts) recordLanes(record ActID, r syncRecord) ([]LaneID, Evidence) {
	if r.waitStream >= 0 {
		return b.nearest(record, r.waitStream, -1, -1), BySyncEvent
	}
	if s, ok := b.sync.stream[r.recordCorr]; ok {
		return b.nearest(record, s, -1, -1), BySyncEvent
	}
	if l := b.launchedLast(record); l != NoLane {
		return []LaneID{l}, ByAPI
	}
	return nil, ByAPI
}

// putBehind returns what a call finds on streams: the operation put last on each, and what it was made to wait for since. end is that of lastPutBefore.
func (b *facts) putBehind(lanes []LaneID, call ActID, end int64) (found []ActID) {
	for _, l := range lanes {
		if x := b.lastPutBefore(l, call, end); x != NoAct {
			found = append(found, x)
		}
		for _, p := range b.pendingAt(l, call) {
			found = append(found, p.source)
		}
	}
	return found
}

// recordedBehind returns what has to end before the event of a record has happened. A stream without operations hands on what it was made to wait for.
func (b *facts) recordedBehind(record ActID, r syncRecord, end int64) (found []ActID, by Evidence) {
	lanes, by := b.recordLanes(record, r)
	if len(lanes) > 0 {
		return b.putBehind(lanes, record, end), by
	}
	list := b.sync.idle[streamKey{int64(b.d.Lanes[b.d.Acts[record].Lane].Proc), r.waitStream}]
	if n := sort.Search(len(list), func(i int) bool { return !b.callLess(list[i].wait, record) }); n > 0 {
		found = append(found, list[n-1].source)
	}
	return found, by
}

// pendingAt is what a stream was made to wait for before a call and behind which nothing had been put by then: whoever waits
// for the stream waits for that too.
func (b *facts) pendingAt(s LaneID, call ActID) []pending {
	list := b.sync.pending[s]
	lo, hi := 0, sort.Search(len(list), func(i int) bool { return !b.callLess(list[i].wait, call) })
	if last := b.lastLaunchedBefore(s, call); last != NoAct {
		lo = sort.Search(hi, func(i int) bool { return b.callLess(b.launch[last], list[i].wait) })
	}
	return list[lo:hi]
}

// launchedLast is the stream on which a call's thread launched last before the call.
func (b *facts) launchedLast(call ActID) LaneID {
	launches := b.threads[b.d.Acts[call].Lane].launches
	n := sort.Search(len(launches), func(i int) bool { return !b.callLess(launches[i], call) })
	if n == 0 {
		return NoLane
	}
	return b.streamOf(launches[n-1])
}

// waitingLanes returns the streams that a record calls its own: that were synchronised, or made to wait. The device in a
// record is this stream's, never that of the stream waited for, and Kineto writes device 0 for contexts that it does not
// know. So 0 is believed only where other records name other devices.
func (b *facts) waitingLanes(call ActID, r syncRecord, step int) []LaneID {
	device := r.device
	if device == 0 && !b.sync.devices {
		device = -1
	}
	return b.nearest(call, r.stream, device, step)
}

// nearLaunches is how many launches of a thread are looked at to tell streams of one number apart.
const nearLaunches = 64

// nearest returns the streams of a number that a call can mean: those of the device, if it has any; else, of several,
// the one that the thread of the call launches on next, or launched on last, as step is 1 or -1.
func (b *facts) nearest(call ActID, number, device int64, step int) []LaneID {
	d := b.d
	if lanes := b.sync.byStream[streamKey{device, number}]; device >= 0 && len(lanes) > 0 {
		return lanes
	}
	lanes := b.sync.byNumber[number]
	if len(lanes) < 2 {
		return lanes
	}
	launches := b.threads[d.Acts[call].Lane].launches
	i := sort.Search(len(launches), func(i int) bool { return !b.callLess(launches[i], call) })
	if step < 0 {
		i--
	}
	for n := 0; n < nearLaunches && i >= 0 && i < len(launches); n, i = n+1, i+step {
		if l := b.streamOf(launches[i]); slices.Contains(lanes, l) {
			return []LaneID{l}
		}
	}
	return lanes
}
