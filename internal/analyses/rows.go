package analyses

import (
	"fmt"

	"overlay/internal/memory"
)

// AddedRow is what an analysis draws: a counter, or slices that do not overlap.
type AddedRow struct {
	Group  string // "Queue length" or "GPU analysis"
	Name   string
	Unit   string // of a counter; "" for slices
	Points []Point
	Slices []Slice
	About  string // how it was computed
}

// Point is the value of a counter from a time on.
type Point struct {
	TS    int64
	Value float64
}

// Slice is one drawn interval.
type Slice struct {
	Interval
	Name string
}

const (
	queueGroup = "Queue length"
	gpuGroup   = "GPU analysis"
)

// streamName tells a stream apart; the device is named when there are several.
func streamName(s *Set, device, stream int64) string {
	if s.Streams[0].Device != s.Streams[len(s.Streams)-1].Device { // they are sorted by device
		return fmt.Sprintf("GPU %d stream %d", device, stream)
	}
	return fmt.Sprintf("stream %d", stream)
}

func idleRows(s *Set, idle []StreamIdle) []AddedRow {
	var rows []AddedRow
	for i := range idle {
		r := AddedRow{Group: gpuGroup, Name: "idle " + streamName(s, idle[i].Device, idle[i].Stream),
			About: "Why the stream had nothing to do between two operations. host_wait: the next one was launched after the one before had ended. " +
				"kernel_wait: a short gap with work queued. other: it was queued and waited, for another stream as a rule."}
		for _, g := range idle[i].gaps {
			r.Slices = append(r.Slices, Slice{g.Interval, g.cause.String()})
		}
		if len(r.Slices) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

func exposedRows(s *Set, overlap []DeviceOverlap) []AddedRow {
	var rows []AddedRow
	i := 0
	s.devices(func(device int64, ops []Op) {
		o := overlap[i]
		i++
		if o.Exposed == 0 {
			return
		}
		name := "exposed communication"
		if len(overlap) > 1 {
			name = fmt.Sprintf("exposed communication GPU %d", device)
		}
		r := AddedRow{Group: gpuGroup, Name: name, About: "Communication runs and no computation does: what better overlap could hide."}
		for _, v := range subtract(ofTypes(ops, 1<<CommunicationType), ofTypes(ops, 1<<Computation)) {
			r.Slices = append(r.Slices, Slice{v, "exposed communication"})
		}
		rows = append(rows, r)
	})
	return rows
}

func queueRows(s *Set, queues []StreamQueue) []AddedRow {
	var rows []AddedRow
	for i := range queues {
		q := &queues[i]
		name := streamName(s, q.Device, q.Stream)
		rows = append(rows,
			AddedRow{Group: queueGroup, Name: "outstanding " + name, Unit: "ops", Points: points(q.outstanding, ofChange), About: "Operations launched and not ended. CUDA's queue holds 1,024: a launch beyond that blocks."},
			AddedRow{Group: queueGroup, Name: "waiting " + name, Unit: "ops", Points: points(q.waiting, ofChange), About: "Operations launched and not started."})
	}
	return rows
}

func memoryRows(_ *Set, c *Copies) []AddedRow {
	var rows []AddedRow
	for i := range c.Kinds {
		k := &c.Kinds[i]
		if k.Bandwidth.Max > 0 {
			rows = append(rows, AddedRow{Group: gpuGroup, Name: k.Kind + " bandwidth", Unit: "GB/s", Points: points(k.series, ofLevel), About: "Bandwidth of the copies of this kind that run, added up."})
		}
	}
	for i := range c.use {
		u := &c.use[i]
		rows = append(rows,
			AddedRow{Group: gpuGroup, Name: "allocated " + u.Device, Unit: "bytes", Points: points(u.Allocated, ofMemory), About: "Total Allocated of the [memory] events."},
			AddedRow{Group: gpuGroup, Name: "reserved " + u.Device, Unit: "bytes", Points: points(u.Drawn, ofMemory), About: "Total Reserved of the [memory] events."})
	}
	return rows
}

// points keeps the last value of each time.
func points[T any](list []T, of func(T) Point) []Point {
	out := make([]Point, 0, len(list))
	for i, x := range list {
		if p := of(x); i+1 == len(list) || of(list[i+1]).TS != p.TS {
			out = append(out, p)
		}
	}
	return out
}

func ofChange(c change) Point { return Point{c.ts, float64(c.n)} }

func ofLevel(l level) Point { return Point{l.ts, max(l.v, 0)} }

func ofMemory(l memory.Level) Point { return Point{l.TS, max(float64(l.Bytes), 0)} }
