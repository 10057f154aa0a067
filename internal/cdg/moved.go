package cdg

import (
	"overlay/internal/trace"
)

// laneRow is what a lane is made of: a row of the trace, or a stream whose operations the profiler drew on other rows.
type laneRow struct {
	track  trace.TrackID // the row; for a stream without one, the row of its first operation
	tid    trace.Token   // by which lanes of a process are ordered
	stream int64         // number of the stream, -1 for threads
}

// streamRows returns the row of each track: its own, but that of the first track of the stream where a stream has several, as
// exporters draw it that keep operations which overlap apart. They are one stream to the device.
func streamRows(tr *trace.Trace) []int32 {
	type stream struct {
		proc   trace.ProcID
		number int64
	}
	row, of := make([]int32, len(tr.Tracks)), map[stream]int32{}
	for t := range tr.Tracks {
		x := &tr.Tracks[t]
		row[t] = int32(t)
		if x.Class != trace.DeviceStream || x.Stream < 0 {
			continue
		}
		key := stream{x.Proc, x.Stream}
		if first, known := of[key]; known {
			row[t] = first
		} else {
			of[key] = int32(t)
		}
	}
	return row
}

// laneRows returns a row for each of the trace, in order, and behind them one for each stream that has none. Activities
// lie on the row of their track, but for those of the given operations, drawn elsewhere than they ran, that row has.
// Cuspy draws operations of CUDA graphs on lanes for the eye, and says on which stream they ran: what waits for what
// follows from the streams.
func laneRows(tr *trace.Trace, drawnElsewhere []trace.EventID) (rows []laneRow, row map[trace.EventID]int32) {
	type stream struct {
		proc   trace.ProcID
		number int64
	}
	rows = make([]laneRow, len(tr.Tracks))
	of := map[stream]int32{}
	for t := range tr.Tracks {
		x := &tr.Tracks[t]
		rows[t] = laneRow{trace.TrackID(t), x.TID, x.Stream}
		if _, known := of[stream{x.Proc, x.Stream}]; !known && x.Class == trace.DeviceStream {
			of[stream{x.Proc, x.Stream}] = int32(t)
		}
	}
	row = map[trace.EventID]int32{}
	for _, id := range drawnElsewhere {
		e := &tr.Events[id]
		number, ok := tr.CUDAStream(id)
		if !ok {
			continue
		}
		key := stream{tr.Tracks[e.Track].Proc, number}
		r, ok := of[key]
		if !ok {
			r = int32(len(rows))
			of[key] = r
			rows = append(rows, laneRow{e.Track, trace.Token{Num: number, IsNum: true}, number})
		}
		row[id] = r
	}
	return rows, row
}
