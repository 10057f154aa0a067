package overlay

import (
	"fmt"
	"slices"
	"sort"

	"overlay/internal/critpath"
)

// piece is a stretch of the path in one class.
type piece struct {
	start, end int64
	class      critpath.Class
	hole       bool // no segment: the method explains nothing here
}

func (p *piece) dur() int64 { return p.end - p.start }

// run is a stretch of the path shown in one class, with the time of all classes in it.
type run struct {
	start, end int64
	class      critpath.Class
	ns         byClass
}

func (r *run) dur() int64 { return r.end - r.start }

// slice shows a run: its class, and the share of that class where it is not all.
func (r *run) slice() Slice {
	name := r.class.Words()
	if share := float64(r.ns[r.class]) / float64(r.dur()); share < 0.995 {
		name = fmt.Sprintf("%s %d %%", name, percent(r.ns[r.class], r.dur()))
	}
	s := summarySlice(r.start, r.end, name, &r.ns)
	s.Color = classColors[r.class]
	s.Args[0].Str = r.class.String()
	return s
}

// classRuns joins neighbouring segments of one class. Where segments leave time out, a piece is a hole.
func classRuns(p *critpath.Path) []piece {
	var runs []piece
	n, last := 0, piece{class: critpath.NumClasses}
	count := func(r piece) {
		if last.class != r.class || last.hole != r.hole {
			n++
		}
		last = r
	}
	join := func(r piece) {
		if n := len(runs); n > 0 && runs[n-1].class == r.class && runs[n-1].hole == r.hole {
			runs[n-1].end = r.end
			return
		}
		runs = append(runs, r)
	}
	eachPiece(p, count)
	runs = make([]piece, 0, n)
	eachPiece(p, join)
	return runs
}

// eachPiece visits the segments and the holes between them in order of time.
func eachPiece(p *critpath.Path, visit func(piece)) {
	t := p.Window.Start
	for i := range p.Segments {
		s := &p.Segments[i]
		start, end := max(s.Start, t), min(s.End, p.Window.End)
		if start >= end {
			continue
		}
		if start > t {
			visit(piece{start: t, end: start, hole: true})
		}
		visit(piece{start: start, end: end, class: s.Kind.Class()})
		t = end
	}
	if t < p.Window.End {
		visit(piece{start: t, end: p.Window.End, hole: true})
	}
}

// clipRuns cuts the pieces, which are sorted, to [start, end].
func clipRuns(runs []piece, start, end int64) []piece {
	first := sort.Search(len(runs), func(i int) bool { return runs[i].end > start })
	limit := sort.Search(len(runs), func(i int) bool { return runs[i].start >= end })
	if first >= limit {
		return nil
	}
	out := slices.Clone(runs[first:limit])
	out[0].start = max(out[0].start, start)
	out[len(out)-1].end = min(out[len(out)-1].end, end)
	return out
}

// smooth joins short runs until nothing is shorter than 1/400 of the window, so that the row can be read: a run of
// that length stands alone; shorter ones are collected up to it and shown in their largest class; a rest below half
// of it joins its left neighbour. What tiled before tiles after. Holes stay holes and end a collection.
func smooth(runs []piece, window int64) []run {
	least := max(window/smoothing, 1)
	var out []run
	var pending run // collected, empty when start == end
	put := func(r run) {
		r.class = critpath.BoundBy(&r.ns)
		if n := len(out); n > 0 && out[n-1].end == r.start && (out[n-1].class == r.class || r.dur() < least/2) {
			l := &out[n-1]
			l.end = r.end
			for c := range l.ns {
				l.ns[c] += r.ns[c]
			}
			l.class = critpath.BoundBy(&l.ns)
			return
		}
		out = append(out, r)
	}
	flush := func() {
		if pending.dur() > 0 {
			put(pending)
		}
		pending = run{}
	}
	for _, r := range runs {
		switch {
		case r.hole:
			flush()
		case r.dur() >= least:
			flush()
			whole := run{start: r.start, end: r.end}
			whole.ns[r.class] = r.dur()
			put(whole)
		default:
			if pending.dur() == 0 {
				pending.start = r.start
			}
			pending.end = r.end
			pending.ns[r.class] += r.dur()
			if pending.dur() >= least {
				flush()
			}
		}
	}
	flush()
	return out
}
