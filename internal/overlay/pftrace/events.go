package pftrace

import (
	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// depthRank nests slices of one interval by what they are, outside in.
var depthRank = [trace.NumKinds]uint8{
	trace.Python: 1, trace.Annotation: 2, trace.CPUOp: 3, trace.Runtime: 4, trace.Driver: 5,
}

// sortEvents decides by phase letter what every event becomes, and gives slices and instants to their rows.
func (w *writer) sortEvents() {
	events := w.tr.Events
	w.items = make([][]perfetto.Item, len(w.tr.Tracks))
	sizes := make([]int, len(w.tr.Tracks))
	for i := range events {
		if events[i].Track >= 0 && (events[i].Ph == 'X' || events[i].Ph == 'i') {
			sizes[events[i].Track]++
		}
	}
	for t, n := range sizes {
		if n > 0 {
			w.items[t] = make([]perfetto.Item, 0, n)
		}
	}
	var pairs []int32 // B and E
	var async []int32
	for i := range events {
		e := &events[i]
		if !w.kept(i) {
			continue
		}
		switch e.Ph {
		case 'M', 's', 't', 'f':
			continue
		}
		if e.Start < 0 {
			w.stats.Negative++
			continue
		}
		switch ph := e.Ph; {
		case e.Track < 0:
			w.stats.NotDrawn[ph]++
		case ph == 'X':
			w.addItem(e.Track, int32(i), e.Start, w.tr.Dur(e), false)
		case ph == 'i' || ph == 'I' || ph == 'R':
			w.addItem(e.Track, int32(i), e.Start, 0, true)
		case ph == 'B' || ph == 'E':
			pairs = append(pairs, int32(i))
		case ph == 'b' || ph == 'n' || ph == 'e' || ph == 'S' || ph == 'T' || ph == 'p' || ph == 'F':
			async = append(async, int32(i))
		case ph == 'C':
			w.addCounter(int32(i))
		default:
			w.stats.NotDrawn[ph]++
		}
	}
	w.matchThreads(pairs)
	w.matchAsync(async)
}

func (w *writer) addItem(t trace.TrackID, id int32, start, dur int64, instant bool) {
	w.items[t] = append(w.items[t], w.item(id, start, dur, instant))
}

func (w *writer) item(id int32, start, dur int64, instant bool) perfetto.Item {
	e := &w.tr.Events[id]
	w.stats.Events++
	w.slice[id] = !instant
	if w.pale != nil && w.pale[e.Name] == 0 {
		w.pale[e.Name] = 1 + paleIndex(w.tr.Syms[e.Name])
	}
	return perfetto.Item{Start: start, Dur: dur, Ref: id, Rank: depthRank[e.Kind], Instant: instant}
}

// matchThreads makes slices of the B and E events, thread by thread.
func (w *writer) matchThreads(ids []int32) {
	w.tr.ByThread(ids, func(ids []int32) {
		last, seen := int64(0), trace.NoTrack
		for _, id := range ids {
			if t := w.tr.Events[id].Track; t != seen {
				seen = t
				last = max(last, lastEnd(w.items[t]))
			}
		}
		for _, it := range w.match(ids, last) {
			t := w.tr.Events[it.Ref].Track
			w.items[t] = append(w.items[t], it)
		}
	})
}

func lastEnd(items []perfetto.Item) (last int64) {
	for _, it := range items {
		last = max(last, it.Start+it.Dur)
	}
	return last
}

// match turns begins and ends of one row, sorted by time and then by file position, into slices; see trace.Pair. What never
// ends is drawn to the end of the row: last, or later.
func (w *writer) match(ids []int32, last int64) (items []perfetto.Item) {
	events := w.tr.Events
	for _, id := range ids {
		if e := &events[id]; e.Ph == 'n' || e.Ph == 'T' || e.Ph == 'p' {
			items = append(items, w.item(id, e.Start, 0, true))
		}
	}
	var open []int32
	trace.Pair(events, ids, func(begin, end int32) {
		switch {
		case begin < 0:
			w.stats.Unopened++
			items = append(items, w.item(end, events[end].Start, 0, true))
		case end < 0:
			open = append(open, begin)
		default:
			w.endOf[begin] = end
			w.stats.Events++ // the end; item counts the begin
			items = append(items, w.item(begin, events[begin].Start, events[end].Start-events[begin].Start, false))
		}
	})
	if len(open) > 0 {
		last = max(last, lastEnd(items))
		for _, id := range ids {
			last = max(last, events[id].Start)
		}
		for _, b := range open {
			w.stats.Unclosed++
			items = append(items, w.item(b, events[b].Start, last-events[b].Start, false))
		}
	}
	return items
}
