package cdg

import (
	"strings"

	"overlay/internal/kineto"
)

// syncRecord is what a cuda_sync record says about the call with its correlation (kineto-format 4.1).
type syncRecord struct {
	stream     int64 // the stream that was synchronised or made to wait; -1 for all
	waitStream int64 // the stream of the event's record; -1 unknown
	recordCorr int64 // correlation of the cudaEventRecord; -1 unknown
	device     int64
}

// syncRecords joins cuda_sync records to calls.
type syncRecords struct {
	of        map[ActID]syncRecord   // per call
	recordAt  map[corrKey]ActID      // the cudaEventRecord call of a correlation
	byStream  map[streamKey][]LaneID // lanes of a stream number on a device
	byNumber  map[int64][]LaneID     // lanes of a stream number on any
	waitsUsed bool                   // some Stream Wait Event names its record
	sources   map[LaneID][]ActID     // per stream: what it was made to wait for
	joined    map[ActID]bool         // operations whose wait a record names
}

type corrKey struct {
	proc kineto.ProcID
	corr int64
}

type streamKey struct{ device, stream int64 }

var (
	streamArg     = []byte(`"stream"`)
	waitStreamArg = []byte(`"wait_on_stream"`)
	recordCorrArg = []byte(`"wait_on_cuda_event_record_corr_id"`)
	deviceArg     = []byte(`"device"`)
)

// readSyncRecords reads the cuda_sync records, if the trace has any.
func (b *builder) readSyncRecords() {
	tr, d := b.tr, b.d
	var records []kineto.EventID
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == kineto.SyncRecord && e.Ph == 'X' && e.Flags&kineto.HasCorr != 0 {
			records = append(records, kineto.EventID(i))
		}
	}
	if len(records) == 0 {
		return
	}
	b.sync = syncRecords{of: map[ActID]syncRecord{}, recordAt: map[corrKey]ActID{}, byStream: map[streamKey][]LaneID{}, byNumber: map[int64][]LaneID{}, sources: map[LaneID][]ActID{}, joined: map[ActID]bool{}}
	calls := map[int64][]ActID{}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			key := streamKey{tr.Procs[lane.Proc].Device, tr.Tracks[lane.Track].Stream}
			b.sync.byStream[key] = append(b.sync.byStream[key], LaneID(l))
			b.sync.byNumber[key.stream] = append(b.sync.byNumber[key.stream], LaneID(l))
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			e := b.event(a)
			if !e.Kind.Call() || e.Flags&kineto.HasCorr == 0 {
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
			if _, ok := b.recordOf(call, r); ok && r.waitStream >= 0 {
				b.sync.waitsUsed = true
			} else if strings.Contains(tr.Name(id), "Wait") {
				b.quality["sync_records_unresolved"]++
			}
		}
	}
}

// argOr reads an id; absent, -1 and the raw 32-bit -1 are -1.
func (b *builder) argOr(id kineto.EventID, key []byte) int64 {
	v, ok := intArg(b.tr, id, key)
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

// streams returns the lanes of a stream number; device -1 is any.
func (b *builder) streams(device, stream int64) []LaneID {
	if device >= 0 {
		return b.sync.byStream[streamKey{device, stream}]
	}
	return b.sync.byNumber[stream]
}
