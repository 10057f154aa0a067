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

// flowEvents returns the flow events by time, then by place in the file, with their slices.
func (w *writer) flowEvents() []flowEvent {
	var found []flowEvent
	for i := range w.tr.Events {
		if e := &w.tr.Events[i]; trace.IsFlow(e.Ph) && w.kept(i) {
			found = append(found, flowEvent{start: e.Start, id: int32(i), slice: -1})
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b flowEvent) int { return cmp.Compare(a.start, b.start) }) // rows lie in the file in order of time, or nearly so
	rows, rowOf := w.flowRows()
	byRow := make([][]*flowEvent, len(rows))
	for i := range found {
		if t := w.tr.Events[found[i].id].Track; t >= 0 {
			byRow[rowOf[t]] = append(byRow[rowOf[t]], &found[i])
		}
	}
	par.Each(len(rows), func(r int) {
		if len(byRow[r]) > 0 {
			w.bindRow(w.flowItems(rows[r]), byRow[r])
		}
	})
	return found
}
