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
// from before its start, if no other one starts in between. What is reached in neither way, as a slice that overlaps its
// row and is moved by the viewer, has a stand-in: its segment on the row of the path (standin.go).

// reach is when a slice is the one that began last on its row: [from, until) in imported ns; empty for a slice that
// no time stamp reaches. From ahead on, and before its start, it is the one that begins next; ahead is its start where it never is.
type reach struct{ from, until, ahead int64 }

// place is what an end of an arrow can be bound to: a slice [start, end] of a row.
type place struct {
	pid, tid   int64
	start, end int64 // ns
	at         reach
	row        bool // there is a row: an event without one has nothing that could be bound
}

// placeOf is the place of an event's own slice.
func (w *writer) placeOf(id trace.EventID, at *reaches) place {
	e := &w.tr.Events[id]
	p := place{start: e.Start, end: w.tr.End(e), at: *at.of(id)}
	if row := w.rowOfEvent(id); row != nil {
		p.pid, p.tid, p.row = row.PID, row.TID, true
	}
	return p
}

// binding is an arrow with time stamps: from one place to another, the start not after the end.
type binding struct {
	from, to place
	s, f     int64 // ns: of the start, of the finish
	turned   bool  // drawn from where it leads to
	next     bool  // the finish binds to the slice that begins next
}

// bindArrows finds time stamps for both ends of each arrow. Arrows of which one end cannot be reached get a stand-in, or
// are left out.
func (w *writer) bindArrows() {
	at := w.reaches()
	id := w.firstFlowID()
	var unbound []int32
	for i := range w.drawing.Arrows {
		a := &w.drawing.Arrows[i]
		if b, ok := bind(a, w.placeOf(a.From, at), w.placeOf(a.To, at)); ok {
			w.addArrow(a, &b, id, "")
			id++
		} else {
			unbound = append(unbound, int32(i))
		}
	}
	if len(unbound) == 0 {
		return
	}
	path := w.standIns(unbound)
	for _, i := range unbound {
		a := &w.drawing.Arrows[i]
		if b, which := path.bind(a, w.placeOf(a.From, at), w.placeOf(a.To, at)); which != "" {
			w.addArrow(a, &b, id, which)
			w.stats.StandIns++
			id++
		} else {
			w.stats.Unbindable++
		}
	}
}

// addArrow adds both ends of an arrow. standIn says which of them are on the row of the path.
func (w *writer) addArrow(a *overlay.Arrow, b *binding, id int64, standIn string) {
	args := []chrome.Arg{{Key: overlay.ArgArrowType, Str: a.Type, IsStr: true}, {Key: overlay.ArgArrowWeight, Int: a.Weight, IsTime: true}, {Key: overlay.ArgCritical, Int: 1}}
	if a.Inferred {
		args = append(args, chrome.Arg{Key: overlay.ArgArrowInferred, Int: 1})
	}
	from, to := &b.from, &b.to
	if b.turned {
		from, to = to, from
		args = append(args, chrome.Arg{Key: overlay.ArgArrowReversed, Int: 1})
	}
	if standIn != "" {
		args = append(args, chrome.Arg{Key: overlay.ArgArrowStandIn, Str: standIn, IsStr: true})
	}
	w.flows = append(w.flows,
		chrome.Flow{Name: overlay.CategoryPath, Category: overlay.CategoryPath, ID: id, PID: from.pid, TID: from.tid, TS: b.s, Args: args},
		chrome.Flow{Name: overlay.CategoryPath, Category: overlay.CategoryPath, ID: id, PID: to.pid, TID: to.tid, TS: b.f, Finish: true, Next: b.next, Args: args})
	w.stats.Arrows++
}

// firstFlowID is above every id of the input's flows: some viewers tell flows apart by id alone.
func (w *writer) firstFlowID() int64 {
	id := int64(1)
	for i := range w.tr.Events {
		if e := &w.tr.Events[i]; trace.IsFlow(e.Ph) && w.kept(i) {
			if n := w.tr.Corr(e); n >= id && n < math.MaxInt32 {
				id = n + 1
			}
		}
	}
	return id
}

// bind chooses the time stamps of an arrow, as close to the true ones as viewers allow: its start not after its
// end. Where the path enters a slice that began before the one it leaves, and that has had a child since, only the
// arrow turned around can be bound (Perfetto draws every arrow from the earlier slice to the later one anyway).
func bind(a *overlay.Arrow, from, to place) (b binding, ok bool) {
	froms, tos := from.times(a.FromEnd), to.times(a.ToEnd)
	for _, t := range tos {
		for _, f := range froms {
			if chrome.Imported(f) <= chrome.Imported(t) && f <= t {
				return binding{from: from, to: to, s: f, f: t}, true
			}
		}
	}
	for _, f := range froms {
		for _, t := range tos {
			if chrome.Imported(t) <= chrome.Imported(f) && t <= f {
				return binding{from: from, to: to, s: t, f: f, turned: true}, true
			}
		}
	}
	if s, f, ok := to.ahead(froms); ok {
		return binding{from: from, to: to, s: s, f: f, next: true}, true
	}
	if s, f, ok := from.ahead(tos); ok {
		return binding{from: from, to: to, s: s, f: f, turned: true, next: true}, true
	}
	return binding{}, false
}

// ahead finds a time of the start of an arrow and one not before it at which its finish waits for a slice, as late as can be.
func (p *place) ahead(starts []int64) (start, finish int64, ok bool) {
	if p.at.ahead >= p.at.from || !p.row {
		return 0, 0, false
	}
	for _, t := range []int64{p.start - 1, p.start - 1000} {
		i := chrome.Imported(t)
		if t < 0 || t > chrome.ExactBelow && t%1000 != 0 || i < p.at.ahead || i >= p.at.from {
			continue
		}
		for _, s := range starts {
			if s <= t && chrome.Imported(s) <= i {
				return s, t, true
			}
		}
	}
	for _, s := range starts { // in a row without room for a made-up time: the moment of the start itself
		if i := chrome.Imported(s); i >= p.at.ahead && i < p.at.from {
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

// times are those at which an end of an arrow can be put, the wanted one first: the end of the slice, or its start.
func (p *place) times(end bool) []int64 {
	if p.at.from >= p.at.until || !p.row {
		return nil
	}
	var out []int64
	add := func(t int64) {
		if t > chrome.ExactBelow && t%1000 != 0 && t != p.start { // a made-up time has to survive the import
			return
		}
		if i := chrome.Imported(t); t >= p.start && t <= p.end && i >= p.at.from && i < p.at.until && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	late := []int64{p.end - 1, p.end - 1000, p.at.until - 1, p.at.until - 1000}
	if end {
		for _, t := range late {
			add(t)
		}
		add(p.start)
		return out
	}
	add(p.start)
	for _, t := range late {
		add(t)
	}
	return out
}

// reaches are those of the slices at ends of arrows.
type reaches struct {
	at   []int32 // per event: 1 + where it is in the list, 0 for none
	list []reach
}

// of is the reach of an event that is wanted, nil of another.
func (r *reaches) of(id trace.EventID) *reach {
	if id < 0 || r.at[id] == 0 {
		return nil
	}
	return &r.list[r.at[id]-1]
}

// reaches finds the reach of every slice at an end of an arrow, by replaying the rows on which they are.
func (w *writer) reaches() *reaches {
	type rowID struct{ pid, tid int64 }
	wanted := &reaches{at: make([]int32, len(w.tr.Events))}
	rows := map[rowID][]int32{}
	for i := range w.drawing.Arrows {
		for _, id := range []trace.EventID{w.drawing.Arrows[i].From, w.drawing.Arrows[i].To} {
			if wanted.at[id] == 0 {
				wanted.list = append(wanted.list, reach{})
				wanted.at[id] = int32(len(wanted.list))
			}
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
func (w *writer) replay(ids []int32, wanted *reaches) {
	events := w.tr.Events
	type item struct {
		ts, dur int64
		id      int32
		class   uint8 // at one time: ends, then slices with the longest first, then the rest as in the file
	}
	items := make([]item, len(ids))
	for i, id := range ids {
		e := &events[id]
		it := item{ts: chrome.Imported(e.Start), dur: w.tr.Dur(e), id: id, class: 2}
		switch {
		case e.Ph == 'E':
			it.class = 0
		case e.Ph == 'X' && w.tr.Dur(e) > 0:
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
		if r := wanted.of(last); r != nil {
			r.until = ts
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
		if r := wanted.of(last); r != nil {
			*r = reach{it.ts, math.MaxInt64, before}
		}
		before = it.ts
	}
}
