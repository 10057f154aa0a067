package fromsqlite

import (
	"cmp"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// syncNames are the types of synchronisation (CUpti_ActivitySynchronizationType) in Kineto's words.
var syncNames = []string{1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}

// eventRecord is a call that recorded an event into a stream.
type eventRecord struct {
	sync, event, stream, correlation, start int64
}

// eventRecords are the records of events: by the id that a wait names, where the version has it, and by event and start of the call.
func (r *reader) eventRecords() (bySync map[int64]eventRecord, byEvent map[int64][]eventRecord, err error) {
	starts := map[int64]int64{}
	bySync, byEvent = map[int64]eventRecord{}, map[int64][]eventRecord{}
	if !r.has("CUPTI_ACTIVITY_KIND_CUDA_EVENT", "eventId", "correlationId") {
		return bySync, byEvent, nil
	}
	err = r.rows("CUPTI_ACTIVITY_KIND_RUNTIME", []string{"correlationId", "start"}, func(s *sqlite3.Stmt) { starts[s.ColumnInt64(0)] = s.ColumnInt64(1) })
	if err != nil {
		return nil, nil, err
	}
	err = r.rows("CUPTI_ACTIVITY_KIND_CUDA_EVENT", []string{"eventSyncId", "eventId", "streamId", "correlationId"}, func(s *sqlite3.Stmt) {
		e := eventRecord{s.ColumnInt64(0), s.ColumnInt64(1), s.ColumnInt64(2), s.ColumnInt64(3), starts[s.ColumnInt64(3)]}
		if e.sync != 0 {
			bySync[e.sync] = e
		}
		byEvent[e.event] = append(byEvent[e.event], e)
	})
	for _, list := range byEvent {
		slices.SortStableFunc(list, func(a, b eventRecord) int { return cmp.Compare(a.start, b.start) })
	}
	return bySync, byEvent, err
}

// syncs reads what the profiler says of waits, in the form that Kineto gives them.
func (r *reader) syncs() error {
	bySync, byEvent, err := r.eventRecords()
	if err != nil {
		return err
	}
	deviceOf := map[int64]int64{} // by context: records of waits name no device
	err = r.rows("CUPTI_ACTIVITY_KIND_KERNEL", []string{"contextId", "deviceId"}, func(s *sqlite3.Stmt) { deviceOf[s.ColumnInt64(0)] = s.ColumnInt64(1) })
	if err != nil {
		return err
	}
	columns := []string{"start", "end", "deviceId", "contextId", "streamId", "correlationId", "syncType", "eventId", "eventSyncId"}
	return r.rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns, func(s *sqlite3.Stmt) {
		typ := s.ColumnInt64(6)
		if typ <= 0 || typ >= int64(len(syncNames)) {
			return
		}
		start, context, stream := s.ColumnInt64(0), s.ColumnInt64(3), s.ColumnInt64(4)
		if stream < 0 || stream >= 0xffffffff {
			stream = -1 // no stream
		}
		device := s.ColumnInt64(2)
		if d, ok := deviceOf[context]; ok {
			device = d
		}
		r.w.Slice("cuda_sync", syncNames[typ], device, stream, start, s.ColumnInt64(1))
		r.w.Str("cuda_sync_kind", syncNames[typ])
		r.w.Int("stream", stream)
		r.w.Int("correlation", s.ColumnInt64(5))
		r.w.Int("device", device)
		r.w.Int("context", context)
		if typ <= 2 {
			e, ok := bySync[s.ColumnInt64(8)]
			if list := byEvent[s.ColumnInt64(7)]; !ok {
				// The last record of the event before the wait.
				n, _ := slices.BinarySearchFunc(list, start+1, func(e eventRecord, at int64) int { return cmp.Compare(e.start, at) })
				if ok = n > 0; ok {
					e = list[n-1]
				}
			}
			if ok {
				r.w.Int("wait_on_stream", e.stream)
				r.w.Int("wait_on_cuda_event_record_corr_id", e.correlation)
				r.w.Int("wait_on_cuda_event_id", e.event)
			}
		}
		r.w.End()
	})
}

// osCalls reads calls of the operating system. They are drawn on their threads, under a category that is in no analysis.
func (r *reader) osCalls() error {
	return r.rows("OSRT_API", []string{"start", "end", "globalTid", "nameId"}, func(s *sqlite3.Stmt) {
		if s.ColumnType(1) == sqlite3.NULL {
			return // it never returned
		}
		global := s.ColumnInt64(2)
		r.w.Slice("osrt", r.names[s.ColumnInt64(3)], pidOf(global), tidOf(global), s.ColumnInt64(0), s.ColumnInt64(1))
		r.w.End()
	})
}

func (r *reader) threadNames() error {
	err := r.rows("ThreadNames", []string{"globalTid", "nameId"}, func(s *sqlite3.Stmt) {
		global := s.ColumnInt64(0)
		r.w.Name("thread_name", pidOf(global), tidOf(global), "name", r.names[s.ColumnInt64(1)])
	})
	if err != nil {
		return err
	}
	return r.rows("PROCESSES", []string{"globalPid", "name"}, func(s *sqlite3.Stmt) {
		pid := pidOf(s.ColumnInt64(0))
		r.w.Name("process_name", pid, pid, "name", s.ColumnText(1))
	})
}
