package critpath

import (
	"slices"
	"sort"
)

// Smoothing is how fine a strip is: nothing in it is shorter than the window over this.
const Smoothing = 400

// Stretch is a part of the window shown in one class, with the time of all classes in it.
type Stretch struct {
	Start, End int64 // ns
	Class      Class // that holds most of it
	NS         [NumClasses]int64
}

// Dur is the length of a stretch, ns.
func (s *Stretch) Dur() int64 { return s.End - s.Start }

// Strip is the window from left to right, smoothed to 1/400 of it. It has holes where the method explains nothing.
func Strip(p *Path) []Stretch { return NewClassRuns(p).Strip(p.Window.Start, p.Window.End) }

// classRun is time of the path in one class.
type classRun struct {
	start, end int64
	class      Class
	hole       bool // no segment: the method explains nothing here
}

// ClassRuns is the path with neighbouring segments of one class joined. It tiles the window.
type ClassRuns struct {
	window int64 // its length, ns
	runs   []classRun
}

// NewClassRuns joins the segments of a path. Runs are counted first: there may be as many as events.
func NewClassRuns(p *Path) *ClassRuns {
	n, last := 0, classRun{class: NumClasses}
	eachClassRun(p, func(r classRun) {
		if last.class != r.class || last.hole != r.hole {
			n++
		}
		last = r
	})
	runs := make([]classRun, 0, n)
	eachClassRun(p, func(r classRun) {
		if n := len(runs); n > 0 && runs[n-1].class == r.class && runs[n-1].hole == r.hole {
			runs[n-1].end = r.end
			return
		}
		runs = append(runs, r)
	})
	return &ClassRuns{p.Window.End - p.Window.Start, runs}
}

// eachClassRun visits the segments and the holes between them in order of time.
func eachClassRun(p *Path, visit func(classRun)) {
	t := p.Window.Start
	for i := range p.Segments {
		s := &p.Segments[i]
		start, end := max(s.Start, t), min(s.End, p.Window.End)
		if start >= end {
			continue
		}
		if start > t {
			visit(classRun{start: t, end: start, hole: true})
		}
		visit(classRun{start: start, end: end, class: s.Kind.Class()})
		t = end
	}
	if t < p.Window.End {
		visit(classRun{start: t, end: p.Window.End, hole: true})
	}
}

// Strip smooths the runs in [start, end]: a run as long as 1/400 of the window stands alone; shorter ones are collected
// up to that length and shown in their largest class; a rest below half of it joins its left neighbour. What tiled
// before tiles after. Holes stay holes and end a collection.
func (c *ClassRuns) Strip(start, end int64) []Stretch {
	least := max(c.window/Smoothing, 1)
	var out []Stretch
	var pending Stretch // collected, empty when Start == End
	put := func(s Stretch) {
		s.Class = BoundBy(&s.NS)
		if n := len(out); n > 0 && out[n-1].End == s.Start && (out[n-1].Class == s.Class || s.Dur() < least/2) {
			l := &out[n-1]
			l.End = s.End
			for k := range l.NS {
				l.NS[k] += s.NS[k]
			}
			l.Class = BoundBy(&l.NS)
			return
		}
		out = append(out, s)
	}
	flush := func() {
		if pending.Dur() > 0 {
			put(pending)
		}
		pending = Stretch{}
	}
	for _, r := range c.clip(start, end) {
		d := r.end - r.start
		switch {
		case r.hole:
			flush()
		case d >= least:
			flush()
			whole := Stretch{Start: r.start, End: r.end}
			whole.NS[r.class] = d
			put(whole)
		default:
			if pending.Dur() == 0 {
				pending.Start = r.start
			}
			pending.End = r.end
			pending.NS[r.class] += d
			if pending.Dur() >= least {
				flush()
			}
		}
	}
	flush()
	return out
}

// clip cuts the runs, which are sorted, to [start, end].
func (c *ClassRuns) clip(start, end int64) []classRun {
	first := sort.Search(len(c.runs), func(i int) bool { return c.runs[i].end > start })
	limit := sort.Search(len(c.runs), func(i int) bool { return c.runs[i].start >= end })
	if first >= limit {
		return nil
	}
	runs := c.runs[first:limit]
	if runs[0].start >= start && runs[len(runs)-1].end <= end {
		return runs
	}
	runs = slices.Clone(runs)
	runs[0].start = max(runs[0].start, start)
	runs[len(runs)-1].end = min(runs[len(runs)-1].end, end)
	return runs
}
