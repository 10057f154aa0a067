package pftrace

import (
	"sort"

	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// bindFlows finds the arrows of the input and those of the overlay, and gives each an id of its own on both slices:
// 1 and up, in that order.
func (w *writer) bindFlows() {
	flows := w.flowEvents()
	source := w.inputFlows(flows)
	id := uint32(0)
	each := func(put func(slice int32)) {
		id = 0
		for i, src := range source {
			if src > 0 {
				id++
				put(flows[src-1].slice)
				put(flows[i].slice)
			}
		}
		if w.drawing == nil {
			return
		}
		for i := range w.drawing.Arrows {
			if a := &w.drawing.Arrows[i]; a.From != a.To && w.slice[a.From] && w.slice[a.To] {
				id++
				put(int32(a.From))
				put(int32(a.To))
			}
		}
	}
	// Counting sort of the ids by slice. The count of slice k is kept at at[k+2]; so after the prefix sum at[k+1] is the
	// next free slot of slice k, and when all slots are filled it is where the ids of slice k+1 begin.
	at := make([]uint32, len(w.tr.Events)+2)
	each(func(slice int32) { at[slice+2]++ })
	w.stats.Arrows = int(id) - w.stats.Flows
	if id == 0 {
		return
	}
	for i := 2; i < len(at); i++ {
		at[i] += at[i-1]
	}
	w.flows = make([]uint32, at[len(at)-1])
	each(func(slice int32) {
		w.flows[at[slice+1]] = id
		at[slice+1]++
	})
	w.flowAt = at[:len(at)-1]
}

// inputFlows joins s, t and f events that have one id, category and name, in order of time: a start opens the flow,
// a step passes it on, an end takes it without closing it. So one start may have many ends. It returns for each of flows
// 1 + the place of the start or step from which an arrow comes here, 0 without.
func (w *writer) inputFlows(flows []flowEvent) []int32 {
	if len(flows) == 0 {
		return nil
	}
	events := w.tr.Events
	source := make([]int32, len(flows))
	live := newFlowTable(w.tr, len(flows))
	starts := make([]bool, len(flows)) // of an arrow
	for i := range flows {
		f := &flows[i]
		from := live.find(f.id)
		switch ph := events[f.id].Ph; {
		case ph == 's':
			*from = int32(i) + 1
		case *from > 0:
			a, b := flows[*from-1].slice, f.slice
			if a >= 0 && b >= 0 && a != b {
				w.stats.Flows++
				source[i] = *from
				starts[*from-1] = true
			}
			if ph == 't' {
				*from = int32(i) + 1
			}
		}
	}
	for i, src := range source {
		if src > 0 || starts[i] {
			w.stats.Events++
		} else {
			w.stats.Unbound++
		}
	}
	return source
}

// flowTable finds for a flow event the last start or step of its flow.
type flowTable struct {
	trace.FlowSlots
	last []int32 // per slot: what the caller keeps for the flow, 0 at first
}

func newFlowTable(tr *trace.Trace, n int) *flowTable {
	slots := trace.NewFlowSlots(tr, n)
	return &flowTable{slots, make([]int32, len(slots.Flow))}
}

func (t *flowTable) find(id int32) *int32 {
	slot := t.Slot(id)
	if t.Flow[slot] == 0 {
		t.Flow[slot] = id + 1
	}
	return &t.last[slot]
}

// flowRows groups tracks that share a pid and a tid as written: a flow event says no more than these about where
// it belongs. Rows of pseudo events take no flows.
func (w *writer) flowRows() (rows [][]trace.TrackID, rowOf []int32) {
	type key struct{ pid, tid trace.Token }
	tr := w.tr
	rowOf = make([]int32, len(tr.Tracks))
	index := make(map[key]int32)
	for t := range tr.Tracks {
		kt := &tr.Tracks[t]
		k := key{tr.Procs[kt.Proc].PID.Key(), kt.TID.Key()}
		r, ok := index[k]
		if !ok {
			r = int32(len(rows))
			index[k] = r
			rows = append(rows, nil)
		}
		rowOf[t] = r
		switch kt.Class {
		case trace.HostThread, trace.DeviceStream, trace.DeviceTrack, trace.OtherTrack:
			if w.rowOf[t] >= 0 {
				rows[r] = append(rows[r], trace.TrackID(t))
			}
		}
	}
	return rows, rowOf
}

// flowItems returns the items of a few tracks in the order in which they begin.
func (w *writer) flowItems(tracks []trace.TrackID) []perfetto.Item {
	if len(tracks) == 1 {
		return w.items[tracks[0]] // the row's, sorted already
	}
	var all perfetto.Track
	for _, t := range tracks {
		all.Items = append(all.Items, w.items[t]...)
	}
	return all.Sorted()
}

// bindRow finds the slices of the flow events of a row, both in order of time. A start, a step and an end with
// "bp":"e" belong to the innermost slice around them (the last one to begin), or, as in the viewer, to the last
// slice of the row that began before them; an end without bp belongs to the next slice that begins.
func (w *writer) bindRow(items []perfetto.Item, flows []*flowEvent) {
	events := w.tr.Events
	var open []perfetto.Item // begun, in order; finished ones stay until the next begins
	var below []int          // per open slice: the next one below that may not have finished, -1 without one
	next, slice := 0, 0      // slice: the first of the later items that is no instant
	for _, f := range flows {
		e := &events[f.id]
		for ; next < len(items) && items[next].Start <= f.start; next++ {
			if items[next].Instant {
				continue
			}
			for len(open) > 0 && open[len(open)-1].Start+open[len(open)-1].Dur <= items[next].Start {
				open = open[:len(open)-1]
			}
			below = append(below[:len(open)], len(open)-1)
			open = append(open, items[next])
		}
		if e.Ph == 'f' && e.Flags&trace.BindEnd == 0 {
			for slice = max(slice, next); slice < len(items) && items[slice].Instant; {
				slice++
			}
			f.slice = nextSlice(items[slice:], open, f.start)
			continue
		}
		top := len(open) - 1
		k := top
		for k >= 0 && open[k].Start+open[k].Dur < f.start {
			k = below[k]
		}
		if k >= 0 {
			f.slice = open[k].Ref
		} else if top >= 0 {
			f.slice = open[top].Ref
		}
		for top > k { // the flows come in order of time: what has finished is passed once
			top, below[top] = below[top], k
		}
	}
}

// nextSlice returns the first slice that begins at ts or later: the outermost of those that begin together.
func nextSlice(later, open []perfetto.Item, ts int64) int32 {
	if k := sort.Search(len(open), func(k int) bool { return open[k].Start >= ts }); k < len(open) && open[k].Start == ts {
		return open[k].Ref
	}
	if len(later) > 0 {
		return later[0].Ref
	}
	return -1
}
