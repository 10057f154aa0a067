package critpath

import (
	"slices"
	"sort"
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

// Strip is the window from left to right, smoothed to 1/400 of it. It has holes where the method explains nothing.
func Strip(p *Path) []Piece { return NewClassPieces(p).Strip(p.Window.Start, p.Window.End) }

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
	t := p.Window.Start
	for _, s := range p.Segments.All() {
		start, end := max(s.Start, t), min(s.End, p.Window.End)
		if start >= end {
			continue
		}
		if start > t {
			visit(classPiece{start: t, end: start, hole: true})
		}
		visit(classPiece{start: start, end: end, class: s.Kind.Class()})
		t = end
	}
	if t < p.Window.End {
		visit(classPiece{start: t, end: p.Window.End, hole: true})
	}
}

// Strip smooths the pieces in [start, end]: a piece as long as 1/400 of the window stands alone; shorter ones are collected
// up to that length and shown in their largest class; a rest below half of it joins its left neighbour. What tiled
// before tiles after. Holes stay holes and end a collection.
func (c *ClassPieces) Strip(start, end int64) []Piece {
	least := max(c.window/Smoothing, 1)
	var out []Piece
	var pending Piece // collected, empty when Start == End
	put := func(s Piece) {
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
		pending = Piece{}
	}
	for _, r := range c.clip(start, end) {
		d := r.end - r.start
		switch {
		case r.hole:
			flush()
		case d >= least:
			flush()
			whole := Piece{Start: r.start, End: r.end}
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
