package cdg

import (
	"sort"
	"strings"

	"overlay/internal/trace"
)

// syncRecord is what a cuda_sync record says about the call with its correlation.
type syncRecord struct {
	stream     int64 // the stream that was synchronised or made to wait; -1 for all
	waitStream int64 // the stream of the event's record; -1 unknown, which is all that Cuspy writes
	recordCorr int64 // correlation of the cudaEventRecord; -1 unknown
	device     int64
}

// syncRecords joins cuda_sync records to calls.
type syncRecords struct {
	of        map[ActID]syncRecord   // per call
	recordAt  map[corrKey]ActID      // the cudaEventRecord call of a correlation
	byStream  map[streamKey][]LaneID // lanes of a stream number on a device
	stream    map[int64]int64        // the stream of a cudaEventRecord by its correlation, where the profiler recorded that
	byNumber  map[int64][]LaneID     // lanes of a stream number on any
	waitsUsed bool                   // some Stream Wait Event names its record
	sources   map[LaneID][]ActID     // per stream: what it was made to wait for
	joined    map[ActID]bool         // operations whose wait a record names
}

type corrKey struct {
	proc trace.ProcID
	corr int64
}

type streamKey struct{ device, stream int64 }

const (
	streamArg     = "stream"
	waitStreamArg = "wait_on_stream"
	recordCorrArg = "wait_on_cuda_event_record_corr_id"
	deviceArg     = "device"
)

// readSyncRecords reads the cuda_sync records, if the trace has any.
func (b *builder) readSyncRecords() {
	tr, d := b.tr, b.d
	var records []trace.EventID
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == trace.SyncRecord && e.Ph == 'X' && e.Flags&trace.HasCorr != 0 {
			records = append(records, trace.EventID(i))
		}
	}
	if len(records) == 0 {
		return
	}
	b.sync = syncRecords{of: map[ActID]syncRecord{}, recordAt: map[corrKey]ActID{}, byStream: map[streamKey][]LaneID{}, byNumber: map[int64][]LaneID{}, stream: map[int64]int64{},
		sources: map[LaneID][]ActID{}, joined: map[ActID]bool{}}
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == trace.EventRecord && e.Ph == 'X' && e.Flags&trace.HasCorr != 0 {
			if s := b.argOr(trace.EventID(i), streamArg); s >= 0 {
				b.sync.stream[e.Corr] = s
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
				b.sync.recordAt[corrKey{lane.Proc, e.Corr}] = a
			case streamSync, deviceSync, eventSync, streamWait:
				calls[e.Corr] = append(calls[e.Corr], a)
			}
		}
	}
	for _, id := range records {
		e := &tr.Events[id]
		r := syncRecord{b.argOr(id, streamArg), b.argOr(id, waitStreamArg), b.argOr(id, recordCorrArg), b.argOr(id, deviceArg)}
		if len(calls[e.Corr]) != 1 { // no such call, or several processes in one file
			b.quality["sync_records_without_call"]++
			continue
		}
		call := calls[e.Corr][0]
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

// argOr reads an id; absent, -1 and the raw 32-bit -1 are -1.
func (b *builder) argOr(id trace.EventID, key string) int64 {
	v, ok := b.tr.ArgInt(id, key)
	if !ok || v < 0 || v == 1<<32-1 {
		return -1
	}
	return v
}

// recordOf returns the call that recorded the event of a wait. A record later than the wait is a re-used event id.
func (b *builder) recordOf(wait ActID, r syncRecord) (ActID, bool) {
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
func (b *builder) recordLanes(record ActID, r syncRecord) ([]LaneID, Evidence) {
	if r.waitStream >= 0 {
		return b.streams(r.device, r.waitStream), BySyncEvent
	}
	if s, ok := b.sync.stream[r.recordCorr]; ok {
		return b.streams(r.device, s), BySyncEvent
	}
	if l := b.launchedLast(record); l != NoLane {
		return []LaneID{l}, ByAPI
	}
	return nil, ByAPI
}

// launchedLast is the stream on which a call's thread launched last before the call.
func (b *builder) launchedLast(call ActID) LaneID {
	launches := b.threads[b.d.Acts[call].Lane].launches
	n := sort.Search(len(launches), func(i int) bool { return !b.callLess(launches[i], call) })
	if n == 0 {
		return NoLane
	}
	return b.streamOf(launches[n-1])
}

// streams returns the lanes of a stream number; device -1 is any.
func (b *builder) streams(device, stream int64) []LaneID {
	if device >= 0 {
		return b.sync.byStream[streamKey{device, stream}]
	}
	return b.sync.byNumber[stream]
}
