package pftrace

import (
	"cmp"
	"slices"

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
			w.addItem(e.Track, int32(i), e.Start, e.Dur, false)
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
	events := w.tr.Events
	slices.SortStableFunc(ids, func(a, b int32) int {
		x, y := &events[a], &events[b]
		if c := cmp.Compare(x.Track, y.Track); c != 0 {
			return c
		}
		return cmp.Compare(x.Start, y.Start)
	})
	for len(ids) > 0 {
		t := events[ids[0]].Track
		n := 1
		for n < len(ids) && events[ids[n]].Track == t {
			n++
		}
		w.items[t] = w.match(ids[:n], w.items[t])
		ids = ids[n:]
	}
}

// match turns begins and ends of one row, sorted by time and then by file position, into slices, and appends them
// to its items.
//
// An end closes the innermost open begin of its name, or the innermost of all where it has no name or one that is
// not open. Begins and ends of one time stamp may stand in any order in the file: an end whose begin follows waits.
func (w *writer) match(ids []int32, items []perfetto.Item) []perfetto.Item {
	events := w.tr.Events
	var open []int32
	closeTop := func(k int, end int32) {
		b := open[k]
		open = slices.Delete(open, k, k+1)
		w.endOf[b] = end
		w.stats.Events++ // the end; item counts the begin
		items = append(items, w.item(b, events[b].Start, events[end].Start-events[b].Start, false))
	}
	for i := 0; i < len(ids); i++ {
		id := ids[i]
		e := &events[id]
		switch e.Ph {
		case 'B', 'b', 'S':
			open = append(open, id)
			continue
		case 'n', 'T', 'p':
			items = append(items, w.item(id, e.Start, 0, true))
			continue
		}
		k := len(open) - 1
		if e.Name != 0 {
			for k >= 0 && events[open[k]].Name != e.Name {
				k--
			}
			if k < 0 {
				if j := w.laterBegin(ids, i); j > 0 {
					copy(ids[i:j], ids[i+1:j+1])
					ids[j] = id
					i--
					continue
				}
				k = len(open) - 1
			}
		}
		if k < 0 {
			w.stats.Unopened++
			items = append(items, w.item(id, e.Start, 0, true))
			continue
		}
		closeTop(k, id)
	}
	if len(open) > 0 {
		last := int64(0)
		for _, it := range items {
			last = max(last, it.Start+it.Dur)
		}
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

// laterBegin returns the place of a begin with the name and the time of the end at i, behind it; 0 without.
func (w *writer) laterBegin(ids []int32, i int) int {
	e := &w.tr.Events[ids[i]]
	for j := i + 1; j < len(ids); j++ {
		b := &w.tr.Events[ids[j]]
		if b.Start != e.Start {
			return 0
		}
		if b.Name == e.Name && (b.Ph == 'B' || b.Ph == 'b' || b.Ph == 'S') {
			return j
		}
	}
	return 0
}
