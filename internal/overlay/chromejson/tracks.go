package chromejson

import (
	"math"
	"slices"

	"overlay/internal/chrome"
	"overlay/internal/overlay"
)

// chromeLane is an added row: slices that nest, as written.
type chromeLane struct {
	name     string
	category string
	tid      int64
	track    *overlay.Track
	slices   []int32 // indexes into the track's
	durs     []int64
}

// layOut gives the added tracks rows in the process "Critical path". Slices that do not nest go to rows of their own.
func (w *writer) layOut() {
	for i := range w.drawing.Tracks {
		t := &w.drawing.Tracks[i]
		name := t.Name
		if t.Parent < 0 && name == overlay.TrackRoot {
			name = "Bound by" // the process has the name already
		}
		for k, slices := range splitSlices(t) {
			if k > 0 {
				name = t.Name + " overlap"
			}
			w.lanes = append(w.lanes, chromeLane{name: name, category: t.Category, tid: int64(len(w.lanes) + 1),
				track: t, slices: slices, durs: importedDurs(t, slices)})
		}
	}
}

// splitSlices puts the slices of a track into lanes in which they nest, each into the first one where it does.
func splitSlices(t *overlay.Track) [][]int32 {
	var lanes [][]int32
	var open [][]int64 // per lane: ends of open slices
	ends := laneEnds{}
	for i := range t.Len() {
		start, dur := t.Span(i)
		for end := start + dur; ; {
			if len(lanes) == ends.size {
				ends.grow(open)
			}
			k := ends.first(start, end)
			if k == len(lanes) {
				lanes, open = append(lanes, nil), append(open, nil)
			}
			list := open[k]
			for len(list) > 0 && list[len(list)-1] <= start {
				list = list[:len(list)-1]
			}
			fits := len(list) == 0 || end <= list[len(list)-1]
			if fits {
				lanes[k], list = append(lanes[k], int32(i)), append(list, end)
			}
			open[k] = list
			ends.set(k, list[len(list)-1])
			if fits {
				break
			}
		}
	}
	return lanes
}

// laneEnds is a tree over lanes with the least and the latest end of the innermost open slices below each node: many lanes that
// overlap are not asked one by one. A lane that is not used yet has an end before all times.
type laneEnds struct {
	size      int // of lanes, a power of two
	low, high []int64
}

// grow makes room for twice as many lanes.
func (x *laneEnds) grow(open [][]int64) {
	x.size = max(2*x.size, 1)
	x.low, x.high = slices.Repeat([]int64{math.MinInt64}, 2*x.size), slices.Repeat([]int64{math.MinInt64}, 2*x.size)
	for k, list := range open {
		x.set(k, list[len(list)-1])
	}
}

// set says when the innermost slice of a lane ends.
func (x *laneEnds) set(lane int, end int64) {
	i := x.size + lane
	x.low[i], x.high[i] = end, end
	for i /= 2; i > 0; i /= 2 {
		x.low[i], x.high[i] = min(x.low[2*i], x.low[2*i+1]), max(x.high[2*i], x.high[2*i+1])
	}
}

// first is the first lane whose innermost slice ends at start or before, or not before end.
func (x *laneEnds) first(start, end int64) int {
	i := 1
	for i < x.size {
		if i *= 2; x.low[i] > start && x.high[i] < end {
			i++
		}
	}
	return i - x.size
}

// importedDurs are the durations to write so that slices that nest still nest after Perfetto's import has rounded
// their times. They are the true ones, less what rounding takes: 1 ns for most traces.
func importedDurs(t *overlay.Track, lane []int32) []int64 {
	durs := make([]int64, len(lane))
	type bounds struct{ end, imported int64 }
	var open []bounds
	for i, k := range lane {
		from, dur := t.Span(int(k))
		start, end := chrome.Imported(from), from+dur
		for len(open) > 0 && open[len(open)-1].end <= from {
			open = open[:len(open)-1]
		}
		last := min(chrome.Imported(end), start+dur)
		if len(open) > 0 {
			last = min(last, open[len(open)-1].imported)
		}
		last = max(last, start)
		durs[i] = last - start
		open = append(open, bounds{end, last})
	}
	return durs
}

// addRecords writes everything that is added: names, slices, counters, arrows.
func (w *writer) addRecords() {
	rec := &records{w: w}
	for _, m := range w.names {
		if m.Category == "" { // a repair, not overlay: it stays when the overlay goes
			rec.plainMeta(m)
		}
	}
	rec.meta(chrome.Meta{Kind: "process_name", PID: w.pid, Args: nameArg(overlay.TrackRoot)})
	rec.meta(chrome.Meta{Kind: "process_sort_index", PID: w.pid, Args: []chrome.Arg{{Key: "sort_index", Int: -1000}}})
	for i := range w.lanes {
		l := &w.lanes[i]
		rec.meta(chrome.Meta{Kind: "thread_name", PID: w.pid, TID: l.tid, Args: nameArg(l.name)})
		rec.meta(chrome.Meta{Kind: "thread_sort_index", PID: w.pid, TID: l.tid, Args: []chrome.Arg{{Key: "sort_index", Int: l.tid}}})
	}
	for _, m := range w.names {
		if m.Category != "" {
			rec.plainMeta(m)
		}
	}
	for i := range w.lanes {
		rec.slices(&w.lanes[i])
	}
	for i := range w.drawing.Tracks {
		rec.counter(&w.drawing.Tracks[i])
	}
	for i := range w.flows {
		rec.buf = chrome.AppendFlow(rec.next(), &w.flows[i])
	}
	w.out.Write(rec.buf)
}

// records collects added events into pieces that are worth a write.
type records struct {
	w    *writer
	buf  []byte
	some bool // something stands before the next event
	args []chrome.Arg
	made [overlay.MaxArgs]overlay.Arg
}

// next makes room for an event and returns the buffer to append it to.
func (r *records) next() []byte {
	if len(r.buf) > 1<<19 {
		r.w.out.Write(r.buf)
		r.buf = r.buf[:0]
	}
	if !r.some && r.w.first < 0 {
		r.some = true
		return append(r.buf, '\n')
	}
	return append(r.buf, ",\n"...)
}

// meta writes a name or order of an added row; the category says that it goes when the overlay goes.
func (r *records) meta(m chrome.Meta) {
	m.Category = overlay.CategorySummary
	r.plainMeta(m)
}

func (r *records) plainMeta(m chrome.Meta) { r.buf = chrome.AppendMeta(r.next(), &m) }

func (r *records) slices(l *chromeLane) {
	for i, k := range l.slices {
		start, dur := l.track.Span(int(k))
		r.args = r.args[:0]
		var name string
		if row := l.track.Maker; row != nil {
			name, _ = row.Look(int(k))
			r.addArgs(r.made[:row.Args(int(k), &r.made)])
		} else {
			name = l.track.Slices[k].Name
			r.addArgs(l.track.Slices[k].Args)
		}
		if l.durs[i] != dur {
			r.args = append(r.args, chrome.Arg{Key: overlay.ArgExactDurNS, Int: dur})
		}
		r.buf = chrome.AppendSlice(r.next(), &chrome.Slice{Name: name, Category: l.category, PID: r.w.pid, TID: l.tid,
			Start: start, Dur: l.durs[i], Args: r.args})
		r.w.stats.Slices++
	}
}

func (r *records) addArgs(args []overlay.Arg) {
	for i := range args {
		a := &args[i]
		r.args = append(r.args, chrome.Arg{Key: a.Key, Int: a.Int, Str: a.Str, IsStr: a.IsStr})
	}
}

func (r *records) counter(t *overlay.Track) {
	if !t.Counter {
		return
	}
	name := t.Name
	if t.Parent >= 0 {
		name = r.w.drawing.Tracks[t.Parent].Name + " " + name
	}
	key := t.Unit
	if key == "" {
		key = "value"
	}
	for _, p := range t.Points {
		r.buf = chrome.AppendCounter(r.next(), t.Category, name, key, r.w.pid, p.TS, p.Value)
	}
}
