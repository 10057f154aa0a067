package cdg

import (
	"cmp"
	"math"
	"slices"
)

// Stretch is a piece of a logical thread that belongs to one activity: self time, or the start of an activity that
// owns no time there (an instant, or covered by what it encloses).
type Stretch struct {
	Start, End int64 // ns, inside the window
	Act        ActID
	first      bool // the activity starts here
}

// stretches lists a logical thread in order of time. Self time of annotations and frames while another of its threads
// has ops or calls open is waiting, not work, and is left out. Where two of its threads work at a time, stretches overlap.
func (g *Graph) stretches(lanes []LaneID, buf []Stretch) []Stretch {
	n := 0 // at most, but for slices that wait more than once
	for _, l := range lanes {
		n += int(g.Deps.PieceFirst[l+1]-g.Deps.PieceFirst[l]) + int(g.Deps.Lanes[l].Limit-g.Deps.Lanes[l].First)
	}
	buf = slices.Grow(buf[:0], n)
	var runs []int
	for _, l := range lanes {
		runs = append(runs, len(buf))
		buf = g.laneStretches(l, lanes, buf)
	}
	return mergeStretches(buf, append(runs, len(buf)))
}

// laneStretches appends the stretches of one thread.
func (g *Graph) laneStretches(l LaneID, lanes []LaneID, out []Stretch) []Stretch {
	d, w := g.Deps, g.Window
	pieces := d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]]
	next := 0
	emit := func(i int, first bool) { // pieces[i]
		s := Stretch{pieces[i].Start, math.MaxInt64, pieces[i].Owner, first}
		if i+1 < len(pieces) {
			s.End = pieces[i+1].Start
		}
		if s.Start < w.Start {
			s.Start, s.first = w.Start, false
		}
		if s.End = min(s.End, w.End); s.Start < s.End {
			out = g.work(l, lanes, s, out)
		}
	}
	lane := &d.Lanes[l]
	for a := lane.First; a < lane.Limit; a++ {
		act := &d.Acts[a]
		for next < len(pieces) && (pieces[next].Start < act.Start || pieces[next].Start == act.Start && pieces[next].Owner < a) {
			if pieces[next].Owner != NoAct {
				emit(next, false)
			}
			next++
		}
		if next < len(pieces) && pieces[next].Start == act.Start && pieces[next].Owner == a {
			emit(next, true)
			next++
		} else if act.Start >= w.Start && act.Start <= w.End {
			out = append(out, Stretch{act.Start, act.Start, a, true})
		}
	}
	for ; next < len(pieces); next++ {
		if pieces[next].Owner != NoAct {
			emit(next, false)
		}
	}
	return out
}

// work appends a stretch, less the time in which it only waits for another thread.
func (g *Graph) work(l LaneID, lanes []LaneID, s Stretch, out []Stretch) []Stretch {
	d := g.Deps
	if len(lanes) == 1 || !d.Marker(g.Trace, s.Act) {
		return append(out, s)
	}
	at, first := s.Start, s.first
	for at < s.End {
		busy := span{math.MaxInt64, math.MaxInt64} // the next time in which another thread works
		for _, o := range lanes {
			if o == l {
				continue
			}
			spans := d.threads[o].busy
			i, _ := slices.BinarySearchFunc(spans, at, func(b span, at int64) int {
				if b.end <= at {
					return -1
				}
				return 1
			})
			if i < len(spans) && spans[i].start < busy.start {
				busy = spans[i]
			}
		}
		if stop := min(busy.start, s.End); at < stop {
			out = append(out, Stretch{at, stop, s.Act, first})
			first = false
		} else if first {
			out = append(out, Stretch{at, at, s.Act, true})
			first = false
		}
		at = max(at, busy.end)
	}
	return out
}

// mergeStretches merges sorted runs; runs[len-1] is the end of the last. Of equal starts the earlier run comes first.
func mergeStretches(a []Stretch, runs []int) []Stretch {
	if len(runs) <= 2 {
		return a
	}
	b := make([]Stretch, len(a))
	for len(runs) > 2 {
		out := []int{0}
		for i := 0; i+1 < len(runs); i += 2 {
			lo, mid := runs[i], runs[i+1]
			hi := mid
			if i+2 < len(runs) {
				hi = runs[i+2]
			}
			x, y := a[lo:mid], a[mid:hi]
			for k := lo; k < hi; k++ {
				if len(y) == 0 || len(x) > 0 && x[0].Start <= y[0].Start {
					b[k], x = x[0], x[1:]
				} else {
					b[k], y = y[0], y[1:]
				}
			}
			out = append(out, hi)
		}
		a, b, runs = b, a, out
	}
	return a
}

// Overlap is the time, ns, in which two threads of one logical thread have ops or calls open: their order there is
// by time stamps, not by dependency.
func (g *Graph) Overlap() int64 {
	var sum int64
	for _, lanes := range g.logical {
		t := g.Window.Start
		spans := make([]span, 0)
		for _, l := range lanes {
			if len(lanes) > 1 {
				spans = append(spans, g.Deps.threads[l].busy...)
			}
		}
		slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.start, y.start) })
		for _, s := range spans {
			start, end := max(s.start, g.Window.Start), min(s.end, g.Window.End)
			if start < end {
				sum += max(0, min(t, end)-start)
				t = max(t, end)
			}
		}
	}
	return sum
}
