package pftrace

import (
	"cmp"
	"slices"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// flowEvent is a flow event of the input.
type flowEvent struct {
	start int64
	id    int32
	slice int32 // the slice that it belongs to, -1 without
}

func (f *flowEvent) before(g *flowEvent) bool {
	return f.start < g.start || f.start == g.start && f.id < g.id
}

// flowRange is how many events are looked through for flow events in one go.
const flowRange = 1 << 15

// flowEvents returns the flow events by time, then by place in the file, with their slices. Those of one row stand in the
// file in order of time, or nearly so: to sort row by row and to join the rows is less work than to sort all.
func (w *writer) flowEvents() []flowEvent {
	found := w.findFlows()
	if len(found) == 0 {
		return nil
	}
	rows, rowOf := w.flowRows()
	row := func(f *flowEvent) int32 {
		if t := w.tr.Events[f.id].Track; t >= 0 {
			return rowOf[t]
		}
		return int32(len(rows)) // those that are on no track
	}
	ends := make([]int, len(rows)+1) // of the run of each row
	for i := range found {
		ends[row(&found[i])]++
	}
	at := 0
	for r, n := range ends {
		ends[r], at = at, at+n
	}
	byRow := make([]flowEvent, len(found))
	for i := range found {
		r := row(&found[i])
		byRow[ends[r]] = found[i]
		ends[r]++
	}
	par.Each(len(ends), func(r int) {
		run := byRow[start(ends, r):ends[r]]
		sortFlows(run)
		if r < len(rows) && len(run) > 0 {
			w.bindRow(w.flowItems(rows[r]), run)
		}
	})
	return mergeFlows(byRow, found, ends)
}

// findFlows returns the flow events in the order of the file.
func (w *writer) findFlows() []flowEvent {
	events := w.tr.Events
	at := make([]int, par.Ranges(len(events), flowRange)+1) // per range and one: how many come before
	par.EachRange(len(events), len(at)-1, func(part, from, to int) {
		for i := from; i < to; i++ {
			if trace.IsFlow(events[i].Ph) && w.kept(i) {
				at[part+1]++
			}
		}
	})
	for part := 1; part < len(at); part++ {
		at[part] += at[part-1]
	}
	found := make([]flowEvent, at[len(at)-1])
	par.EachRange(len(events), len(at)-1, func(part, from, to int) {
		k := at[part]
		for i := from; i < to; i++ {
			if trace.IsFlow(events[i].Ph) && w.kept(i) {
				found[k] = flowEvent{start: events[i].Start, id: int32(i), slice: -1}
				k++
			}
		}
	})
	return found
}

func sortFlows(flows []flowEvent) {
	for i := 1; i < len(flows); i++ {
		if flows[i].before(&flows[i-1]) {
			slices.SortFunc(flows, func(a, b flowEvent) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id)) })
			return
		}
	}
}

// start is where a run begins: at the end of the one before it.
func start(ends []int, run int) int {
	if run == 0 {
		return 0
	}
	return ends[run-1]
}

// mergeFlows joins sorted runs with these ends, two at a time, from one list into the other and back. It returns the one
// where they are joined in the end.
func mergeFlows(from, to []flowEvent, ends []int) []flowEvent {
	for len(ends) > 1 {
		joined := make([]int, (len(ends)+1)/2)
		for k := range joined {
			joined[k] = ends[min(2*k+1, len(ends)-1)]
		}
		par.Each(len(joined), func(k int) {
			first := start(joined, k)
			merge(to[first:joined[k]], from[first:ends[2*k]], from[ends[2*k]:joined[k]])
		})
		from, to, ends = to, from, joined
	}
	return from
}

// merge joins two sorted runs.
func merge(to, a, b []flowEvent) {
	for len(a) > 0 && len(b) > 0 {
		if a[0].before(&b[0]) {
			to[0], a = a[0], a[1:]
		} else {
			to[0], b = b[0], b[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}
