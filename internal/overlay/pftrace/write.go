// Package pftrace writes a trace, and what is drawn on it, in Perfetto's format.
package pftrace

import (
	"encoding/binary"
	"hash/fnv"
	"io"

	"overlay/internal/overlay"
	"overlay/internal/par"
	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// Stats is what became of a trace in Perfetto's format.
type Stats struct {
	perfetto.Stats
	Events   int          // events of the input that are drawn: as slice, instant, counter value or arrow
	Flows    int          // arrows of the input
	Unbound  int          // s, t and f events that are part of no arrow
	Arrows   int          // arrows of the overlay
	Unclosed int          // B, b and S events without their end: drawn to the end of their row
	Unopened int          // E, e and F events without their begin: drawn as instants
	Negative int          // events before time 0, which the format cannot hold: not drawn
	NotDrawn map[byte]int // events of phase letters that cannot be drawn, by letter (0: no event at all)
}

// Write writes a trace in Perfetto's format. drawing is what to draw on it, nil for nothing.
// The error is the writer's; everything that cannot be drawn is in the stats.
func Write(to io.Writer, tr *trace.Trace, drawing *overlay.Drawing) (Stats, error) {
	w := newWriter(tr, drawing)
	stats, err := perfetto.Write(to, w.build())
	w.stats.Stats = stats
	return w.stats, err
}

// writer is a trace on its way into Perfetto's tracks.
type writer struct {
	tr      *trace.Trace
	drawing *overlay.Drawing
	stats   Stats

	out    perfetto.Trace
	rowOf  []int32           // per trace.TrackID: its index in out.Tracks, -1 without
	procOf []int32           // per trace.ProcID, the same
	items  [][]perfetto.Item // per trace.TrackID: its slices and instants
	async  []asyncRow
	counts []counterRow

	countAt map[counterKey]int // index in counts

	endOf  map[int32]int32 // begin event -> end event, for B/E, b/e and S/F
	slice  []bool          // per event: it became a slice
	pale   []uint8         // per Sym: 1 + index of its pale colour; nil when colours stay
	flowAt []uint32        // per event and one: where its flow ids begin in flows; nil without flows
	flows  []uint32

	rank      *Rank   // of a job; nil for a trace by itself
	part      int     // its number among the ranks that are drawn, from 1 on
	pidsTaken numbers // by other ranks
}

func newWriter(tr *trace.Trace, drawing *overlay.Drawing) *writer {
	w := &writer{tr: tr, drawing: drawing, endOf: make(map[int32]int32), slice: make([]bool, len(tr.Events)), countAt: map[counterKey]int{}}
	w.stats.NotDrawn = make(map[byte]int)
	if drawing == nil {
		return w
	}
	if !drawing.Plain {
		w.pale = make([]uint8, len(tr.Syms))
	}
	return w
}

func (w *writer) build() *perfetto.Trace {
	said := par.Beside(func() {
		if w.rank == nil { // else the job says it for all of its ranks
			w.out.UUID = w.uuid()
			w.out.Realtime, w.out.HasRealtime = realtime(w.tr)
		}
	})
	var added []perfetto.Track
	rowsAdded := par.Beside(func() {
		if w.drawing != nil {
			added = addedRows(w.drawing.Tracks)
		}
	})
	w.sortEvents()
	w.addRows()
	par.Each(len(w.out.Tracks), func(i int) { w.out.Tracks[i].Sorted() })
	w.bindFlows()
	rowsAdded()
	w.addOverlay(added)
	said()
	w.out.GPUs = devices(w.tr)
	if w.drawing != nil && w.drawing.GPUCompute {
		w.addStages()
	}
	if w.drawing != nil && w.drawing.Stacks != nil {
		w.addStacks(w.drawing.Stacks)
	}
	return &w.out
}

// kept reports whether an event is drawn at all.
func (w *writer) kept(id int) bool {
	return w.drawing == nil || w.drawing.Keep == nil || w.drawing.Keep[id]
}

// realtime returns the Unix time of time stamp 0. Without a base, time stamps from 1973 on (1e14 µs is 1973 in
// Unix time, or three years of uptime) are Unix times themselves; smaller ones are relative to nothing known.
func realtime(tr *trace.Trace) (int64, bool) {
	if tr.HasBase {
		return tr.Base, true
	}
	last := int64(0)
	for i := range tr.Events {
		last = max(last, tr.Events[i].Start)
	}
	return 0, last >= 1e17
}

// uuid is a hash of the input and of what is drawn on it: the viewer keeps what it knows of a trace under this
// number, and without it two overlays of one input would be one trace. It guards against accidents, not attacks.
func (w *writer) uuid() [2]uint64 {
	sums := w.tr.Source.Digest()
	h := fnv.New64a()
	word := func(v int64) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(v))
		h.Write(b[:])
	}
	text := func(s string) { io.WriteString(h, s+"\x00") }
	word(w.tr.Source.Size())
	if drawing := w.drawing; drawing != nil {
		word(1)
		for _, a := range drawing.Attrs {
			text(a.Key)
			text(a.Str)
			word(a.Int)
		}
		for i := range drawing.Marks.Events() {
			if m, ok := drawing.Marks.Of(trace.EventID(i)); ok {
				word(int64(m.Event))
				word(m.NS ^ int64(max(m.ID, 0))<<40)
			}
		}
		if o := w.tr.Origins; o != nil {
			for i := range o.List {
				text(w.tr.Str(o.List[i].Operator))
				text(w.tr.Str(o.List[i].Line))
			}
		}
		word(int64(len(drawing.Arrows)))
		word(int64(len(drawing.Tracks)))
		for i := range drawing.Tracks {
			word(int64(drawing.Tracks[i].Len()))
			word(int64(len(drawing.Tracks[i].Points)))
		}
		if drawing.Plain {
			word(2)
		}
		if drawing.GPUCompute {
			word(4)
		}
		if drawing.Stacks != nil {
			word(5)
		}
		for _, k := range drawing.Keep {
			if !k {
				word(3)
			}
		}
	}
	return [2]uint64{uint64(sums[0])<<32 | uint64(sums[1]), h.Sum64()}
}
