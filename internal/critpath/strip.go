package critpath

import (
	"slices"
	"sort"

	"overlay/internal/cdg"
)

// Smoothing is how fine a strip is: nothing in it is shorter than the window over this.
const Smoothing = 400

// Piece is a piece of a strip: time of the window shown in one class, with the time of all classes in it.
type Piece struct {
	Start, End int64 // ns
	Class      Class // that holds most of it
	NS         [NumClasses]int64
}

// Dur is the length of a piece, ns.
func (s *Piece) Dur() int64 { return s.End - s.Start }

// classPiece is time of the path in one class.
type classPiece struct {
	start, end int64
	class      Class
	hole       bool // no segment: the method explains nothing here
}

// ClassPieces is the path with neighbouring segments of one class joined. It tiles the window.
type ClassPieces struct {
	window int64 // its length, ns
	pieces []classPiece
}

// before adds time before all that there is.
func (c *ClassPieces) before(start, end int64, class Class) {
	if n := len(c.pieces); n > 0 && c.pieces[n-1].class == class {
		c.pieces[n-1].start = start
		return
	}
	c.pieces = append(c.pieces, classPiece{start: start, end: end, class: class})
}

// NewClassPieces joins the segments of a path. It counts the pieces first, since there may be as many as events.
func NewClassPieces(p *Path) *ClassPieces {
	n, last := 0, classPiece{class: NumClasses}
	eachClassPiece(p, func(r classPiece) {
		if last.class != r.class || last.hole != r.hole {
			n++
		}
		last = r
	})
	pieces := make([]classPiece, 0, n)
	eachClassPiece(p, func(r classPiece) {
		if n := len(pieces); n > 0 && pieces[n-1].class == r.class && pieces[n-1].hole == r.hole {
			pieces[n-1].end = r.end
			return
		}
		pieces = append(pieces, r)
	})
	return &ClassPieces{p.Window.End - p.Window.Start, pieces}
}

// eachClassPiece visits the segments and the holes between them in order of time.
func eachClassPiece(p *Path, visit func(classPiece)) {
	c := newClassPiecer(p.Window, visit)
	for _, s := range p.Segments.All() {
		c.add(s)
	}
	c.done()
}

// classPiecer takes segments in order of time and visits them and the holes between them, which together tile the window.
type classPiecer struct {
	t, end int64
	visit  func(classPiece)
}

func newClassPiecer(w cdg.Window, visit func(classPiece)) classPiecer {
	return classPiecer{w.Start, w.End, visit}
}

func (c *classPiecer) add(s *Segment) {
	start, end := max(s.Start, c.t), min(s.End, c.end)
	if start >= end {
		return
	}
	if start > c.t {
		c.visit(classPiece{start: c.t, end: start, hole: true})
	}
	c.visit(classPiece{start: start, end: end, class: s.Kind.Class()})
	c.t = end
}

func (c *classPiecer) done() {
	if c.t < c.end {
		c.visit(classPiece{start: c.t, end: c.end, hole: true})
	}
}

// Strip smooths the pieces in [start, end], see stripper.
func (c *ClassPieces) Strip(start, end int64) []Piece {
	s := newStripper(c.window)
	for _, r := range c.clip(start, end) {
		s.add(r)
	}
	return s.done()
}

// stripper smooths pieces that follow one another: one as long as 1/400 of the window stands alone; shorter ones are collected
// up to that length and shown in their largest class; a rest below half of it joins its left neighbour. What tiled
// before tiles after. Holes stay holes and end a collection.
type stripper struct {
	least   int64      // ns
	joined  classPiece // neighbours of one class, which count as one piece; empty when start == end
	pending Piece      // collected, empty when Start == End
	out     []Piece
}

func newStripper(window int64) stripper { return stripper{least: max(window/Smoothing, 1)} }

func (x *stripper) add(r classPiece) {
	if x.joined.end == r.start && x.joined.class == r.class && x.joined.hole == r.hole {
		x.joined.end = r.end
		return
	}
	x.take()
	x.joined = r
}

// take smooths what was joined.
func (x *stripper) take() {
	r := x.joined
	d := r.end - r.start
	switch {
	case d == 0:
	case r.hole:
		x.flush()
	case d >= x.least:
		x.flush()
		whole := Piece{Start: r.start, End: r.end}
		whole.NS[r.class] = d
		x.put(whole)
	default:
		if x.pending.Dur() == 0 {
			x.pending.Start = r.start
		}
		x.pending.End = r.end
		x.pending.NS[r.class] += d
		if x.pending.Dur() >= x.least {
			x.flush()
		}
	}
}

func (x *stripper) flush() {
	if x.pending.Dur() > 0 {
		x.put(x.pending)
	}
	x.pending = Piece{}
}

func (x *stripper) put(s Piece) {
	s.Class = BoundBy(&s.NS)
	if n := len(x.out); n > 0 && x.out[n-1].End == s.Start && (x.out[n-1].Class == s.Class || s.Dur() < x.least/2) {
		l := &x.out[n-1]
		l.End = s.End
		for k := range l.NS {
			l.NS[k] += s.NS[k]
		}
		l.Class = BoundBy(&l.NS)
		return
	}
	x.out = append(x.out, s)
}

func (x *stripper) done() []Piece {
	x.take()
	x.flush()
	return x.out
}

// clip cuts the pieces, which are sorted, to [start, end].
func (c *ClassPieces) clip(start, end int64) []classPiece {
	first := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].end > start })
	limit := sort.Search(len(c.pieces), func(i int) bool { return c.pieces[i].start >= end })
	if first >= limit {
		return nil
	}
	pieces := c.pieces[first:limit]
	if pieces[0].start >= start && pieces[len(pieces)-1].end <= end {
		return pieces
	}
	pieces = slices.Clone(pieces)
	pieces[0].start = max(pieces[0].start, start)
	pieces[len(pieces)-1].end = min(pieces[len(pieces)-1].end, end)
	return pieces
}
