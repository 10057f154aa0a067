package chromejson

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/chrome"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// An end of an arrow has no slice in Chrome's format, only a row and a time. Perfetto binds it to the slice of the
// row that began last, finished or not (flow_tracker.cc, slice_tracker.cc). So an arrow can only reach a slice at a
// time between its start and the start of the next slice of its row, after Perfetto's rounding. A slice with which its
// first child starts has no such time. But a finish without bp waits for the slice that begins next: that reaches a slice
// from before its start, if no other one starts in between.

// reach is when a slice is the one that began last on its row: [from, until) in imported ns; empty for a slice that
// no time stamp reaches. From ahead on, and before its start, it is the one that begins next; ahead is its start where it never is.
type reach struct{ from, until, ahead int64 }

// bindArrows finds time stamps for both ends of each arrow. Arrows of which one end cannot be reached are left out.
func (w *writer) bindArrows() {
	at := w.reaches()
	id := w.firstFlowID()
	for i := range w.drawing.Arrows {
		a := &w.drawing.Arrows[i]
		from, to, turned, next, ok := w.times(a, at)
		if !ok {
			w.stats.Unbindable++
			continue
		}
		args := []chrome.Arg{{Key: overlay.ArgArrowType, Str: a.Type, IsStr: true}, {Key: overlay.ArgArrowWeight, Int: a.Weight, IsTime: true}, {Key: overlay.ArgCritical, Int: 1}}
		if a.Inferred {
			args = append(args, chrome.Arg{Key: overlay.ArgArrowInferred, Int: 1})
		}
		src, dst := a.From, a.To
		if turned {
			src, dst, from, to = dst, src, to, from
			args = append(args, chrome.Arg{Key: overlay.ArgArrowReversed, Int: 1})
		}
		for k, end := range []trace.EventID{src, dst} {
			row := w.rowOfEvent(end)
			f := chrome.Flow{Name: overlay.CategoryPath, Category: overlay.CategoryPath, ID: id, PID: row.PID, TID: row.TID, TS: from, Args: args}
			if k == 1 {
				f.TS, f.Finish, f.Next = to, true, next
			}
			w.flows = append(w.flows, f)
		}
		id++
		w.stats.Arrows++
	}
}

// firstFlowID is above every id of the input's flows: some viewers tell flows apart by id alone.
func (w *writer) firstFlowID() int64 {
	id := int64(1)
	for i := range w.tr.Events {
		if e := &w.tr.Events[i]; (e.Ph == 's' || e.Ph == 't' || e.Ph == 'f') && w.kept(i) && e.Corr >= id && e.Corr < math.MaxInt32 {
			id = e.Corr + 1
		}
	}
	return id
}

// times chooses the time stamps of an arrow, as close to the true ones as viewers allow: its start not after its
// end. Where the path enters a slice that began before the one it leaves, and that has had a child since, only the
// arrow turned around can be bound (Perfetto draws every arrow from the earlier slice to the later one anyway). next says
// that the finish binds to the slice that begins next.
func (w *writer) times(a *overlay.Arrow, at map[trace.EventID]reach) (from, to int64, turned, next, ok bool) {
	froms := w.candidates(a.From, a.FromEnd, at[a.From])
	tos := w.candidates(a.To, a.ToEnd, at[a.To])
	for _, t := range tos {
		for _, f := range froms {
			if chrome.Imported(f) <= chrome.Imported(t) && f <= t {
				return f, t, false, false, true
			}
		}
	}
	for _, f := range froms {
		for _, t := range tos {
			if chrome.Imported(t) <= chrome.Imported(f) && t <= f {
				return f, t, true, false, true
			}
		}
	}
	if f, t, ok := w.ahead(froms, a.To, at[a.To]); ok {
		return f, t, false, true, true
	}
	if t, f, ok := w.ahead(tos, a.From, at[a.From]); ok {
		return f, t, true, true, true
	}
	return 0, 0, false, false, false
}

// ahead finds a time of the start of an arrow and one not before it at which its finish waits for a slice, as late as can be.
func (w *writer) ahead(starts []int64, slice trace.EventID, r reach) (start, finish int64, ok bool) {
	if r.ahead >= r.from || w.rowOfEvent(slice) == nil {
		return 0, 0, false
	}
	at := w.tr.Events[slice].Start
	for _, t := range []int64{at - 1, at - 1000} {
		i := chrome.Imported(t)
		if t < 0 || t > chrome.ExactBelow && t%1000 != 0 || i < r.ahead || i >= r.from {
			continue
		}
		for _, s := range starts {
			if s <= t && chrome.Imported(s) <= i {
				return s, t, true
			}
		}
	}
	for _, s := range starts { // in a row without room for a made-up time: the moment of the start itself
		if i := chrome.Imported(s); i >= r.ahead && i < r.from {
			return s, s, true
		}
	}
	return 0, 0, false
}

// rowOfEvent is the row on which an event is written; nil for one without a row, at which no arrow can be put.
func (w *writer) rowOfEvent(id trace.EventID) *chrome.Thread {
	if t := w.tr.Events[id].Track; t >= 0 {
		return w.rowOf[t]
	}
	return nil
}

// candidates are the times at which an end can be put, the wanted one first.
func (w *writer) candidates(id trace.EventID, end bool, r reach) []int64 {
	if r.from >= r.until || w.rowOfEvent(id) == nil {
		return nil
	}
	e := &w.tr.Events[id]
	var out []int64
	add := func(t int64) {
		if t > chrome.ExactBelow && t%1000 != 0 && t != e.Start { // a made-up time has to survive the import
			return
		}
		if i := chrome.Imported(t); t >= e.Start && t <= e.End() && i >= r.from && i < r.until && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	late := []int64{e.End() - 1, e.End() - 1000, r.until - 1, r.until - 1000}
	if end {
		for _, t := range late {
			add(t)
		}
		add(e.Start)
		return out
	}
	add(e.Start)
	for _, t := range late {
		add(t)
	}
	return out
}

// reaches finds the reach of every slice at an end of an arrow, by replaying the rows on which they are.
func (w *writer) reaches() map[trace.EventID]reach {
	type rowID struct{ pid, tid int64 }
	wanted := make(map[trace.EventID]reach, 2*len(w.drawing.Arrows))
	rows := map[rowID][]int32{}
	for i := range w.drawing.Arrows {
		for _, id := range []trace.EventID{w.drawing.Arrows[i].From, w.drawing.Arrows[i].To} {
			wanted[id] = reach{}
			if row := w.rowOfEvent(id); row != nil {
				rows[rowID{row.PID, row.TID}] = nil
			}
		}
	}
	byTrack := make([]*[]int32, len(w.tr.Tracks))
	lists := map[rowID]*[]int32{}
	for t, row := range w.rowOf {
		if row == nil {
			continue
		}
		id := rowID{row.PID, row.TID}
		if _, ok := rows[id]; !ok {
			continue
		}
		if lists[id] == nil {
			lists[id] = new([]int32)
		}
		byTrack[t] = lists[id]
	}
	for i := range w.tr.Events {
		e := &w.tr.Events[i]
		if e.Track < 0 || byTrack[e.Track] == nil || !w.kept(i) {
			continue
		}
		switch e.Ph {
		case 'X', 'B', 'E', 'i', 'I', 'R':
			*byTrack[e.Track] = append(*byTrack[e.Track], int32(i))
		}
	}
	for _, list := range lists {
		w.replay(*list, wanted)
	}
	return wanted
}

// replay goes through the events of a row as the import does and fills in the reach of those that are wanted.
func (w *writer) replay(ids []int32, wanted map[trace.EventID]reach) {
	events := w.tr.Events
	type item struct {
		ts, dur int64
		id      int32
		class   uint8 // at one time: ends, then slices with the longest first, then the rest as in the file
	}
	items := make([]item, len(ids))
	for i, id := range ids {
		e := &events[id]
		it := item{ts: chrome.Imported(e.Start), dur: e.Dur, id: id, class: 2}
		switch {
		case e.Ph == 'E':
			it.class = 0
		case e.Ph == 'X' && e.Dur > 0:
			it.class = 1
		}
		if it.class != 1 {
			it.dur = 0
		}
		items[i] = it
	}
	slices.SortFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(a.class, b.class), cmp.Compare(b.dur, a.dur), cmp.Compare(a.id, b.id))
	})
	last := trace.NoEvent // began last
	before := int64(0)    // when it did
	var open []int64      // ends of open slices
	end := func(ts int64) {
		if r, ok := wanted[last]; ok {
			r.until = ts
			wanted[last] = r
		}
	}
	for _, it := range items {
		ph := events[it.id].Ph
		if ph == 'E' {
			end(it.ts)
			last = trace.NoEvent
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			continue
		}
		for len(open) > 0 && open[len(open)-1] <= it.ts {
			open = open[:len(open)-1]
		}
		stop := it.ts + it.dur
		if ph == 'B' {
			stop = math.MaxInt64
		}
		if ph == 'X' && len(open) > 0 && stop > open[len(open)-1] {
			continue // overlaps: the import moves it to a row of its own, where no arrow finds it
		}
		open = append(open, stop)
		end(it.ts)
		last = trace.EventID(it.id)
		if _, ok := wanted[last]; ok {
			wanted[last] = reach{it.ts, math.MaxInt64, before}
		}
		before = it.ts
	}
}
