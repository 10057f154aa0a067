package nodes

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

// stretches visits a logical thread in order of time, until visit returns false. Self time of annotations and frames
// while another of its threads has ops or calls open is waiting, not work, and is left out. Where two of its threads
// work at a time, stretches overlap; of equal starts the earlier thread comes first.
func (g *Graph) stretches(lanes []LaneID, visit func(*Stretch) bool) {
	d := g
	runs := make([]stretchRun, len(lanes))
	busy := g.busyTimes(lanes)
	var heap runHeap
	for i, l := range lanes {
		runs[i] = stretchRun{g: g, lane: l, busy: busy, act: d.Lanes[l].First, pieces: d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]]}
		if runs[i].fill(); len(runs[i].ready) > 0 {
			heap = append(heap, &runs[i])
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		heap.sink(i)
	}
	for len(heap) > 0 {
		// The run that comes first goes on until another one does.
		first, other := heap[0], heap.second()
		for len(first.ready) > 0 && (other == nil || first.before(other)) {
			if !visit(&first.ready[0]) {
				return
			}
			if first.ready = first.ready[1:]; len(first.ready) == 0 {
				first.fill()
			}
		}
		if n := len(heap) - 1; len(first.ready) == 0 {
			heap[0] = heap[n]
			heap = heap[:n]
		}
		heap.sink(0)
	}
}

// runHeap has the run first whose next stretch comes first: run i comes before the runs 2i+1 and 2i+2.
type runHeap []*stretchRun

func (h runHeap) sink(i int) {
	for {
		k := 2*i + 1
		if k >= len(h) {
			return
		}
		if k+1 < len(h) && h[k+1].before(h[k]) {
			k++
		}
		if h[i].before(h[k]) {
			return
		}
		h[i], h[k] = h[k], h[i]
		i = k
	}
}

// second is the run that comes next after the first, nil without one.
func (h runHeap) second() *stretchRun {
	switch {
	case len(h) < 2:
		return nil
	case len(h) > 2 && h[2].before(h[1]):
		return h[2]
	}
	return h[1]
}

// before orders runs by the start of their next stretch, then by thread.
func (r *stretchRun) before(o *stretchRun) bool {
	a, b := r.ready[0].Start, o.ready[0].Start
	return a < b || a == b && r.lane < o.lane
}

// stretchRun makes the stretches of one thread, some at a time.
type stretchRun struct {
	g      *Graph
	lane   LaneID
	busy   []busyLane // when all threads work, from now on; nil when there is no other
	act    ActID      // the next activity
	pieces []Piece    // the next ones
	ready  []Stretch
	buf    []Stretch
}

// stretchesAhead is how many stretches a run makes at a time: enough to forget the cost of a call, few enough for the cache.
const stretchesAhead = 256

// fill makes stretches until some are ready or the thread is over.
func (r *stretchRun) fill() {
	d, w := r.g, r.g.Window
	limit := d.Lanes[r.lane].Limit
	out := r.buf[:0]
	for ; r.act < limit && len(out) < stretchesAhead; r.act++ {
		act := &d.Acts[r.act]
		for len(r.pieces) > 0 && (r.pieces[0].Start < act.Start || r.pieces[0].Start == act.Start && r.pieces[0].Owner < r.act) {
			out = r.piece(false, out)
		}
		if len(r.pieces) > 0 && r.pieces[0].Start == act.Start && r.pieces[0].Owner == r.act {
			out = r.piece(true, out)
		} else if act.Start >= w.Start && act.Start <= w.End {
			out = append(out, Stretch{act.Start, act.Start, r.act, true})
		}
	}
	for r.act == limit && len(r.pieces) > 0 {
		out = r.piece(false, out)
	}
	r.ready, r.buf = out, out
}

// piece takes the next piece; first says that its owner starts with it.
func (r *stretchRun) piece(first bool, out []Stretch) []Stretch {
	s := Stretch{r.pieces[0].Start, math.MaxInt64, r.pieces[0].Owner, first}
	if r.pieces = r.pieces[1:]; s.Act == NoAct {
		return out
	}
	if len(r.pieces) > 0 {
		s.End = r.pieces[0].Start
	}
	if w := r.g.Window; s.Start < w.Start {
		s.Start, s.first = w.Start, false
	}
	if s.End = min(s.End, r.g.Window.End); s.Start < s.End {
		out = r.work(s, out)
	}
	return out
}

// busyLane is time in which a thread has ops or calls open.
type busyLane struct {
	span
	lane LaneID
}

// busyTimes lists when the threads of a logical thread work, in order of time; nil for a single one.
func (g *Graph) busyTimes(lanes []LaneID) []busyLane {
	if len(lanes) == 1 {
		return nil
	}
	var all []busyLane
	for _, l := range lanes {
		for _, s := range g.threads[l].busy {
			all = append(all, busyLane{s, l})
		}
	}
	SortRuns(all, func(x, y *busyLane) bool { return x.start < y.start || x.start == y.start && x.lane < y.lane })
	return all
}

// work appends a stretch, less the time in which it only waits for another thread. Stretches come in order of time, so
// what another thread did before is passed over once.
func (r *stretchRun) work(s Stretch, out []Stretch) []Stretch {
	if r.busy == nil || !r.g.Marker(s.Act) {
		return append(out, s)
	}
	at, first := s.Start, s.first
	for at < s.End {
		for len(r.busy) > 0 && (r.busy[0].lane == r.lane || r.busy[0].end <= at) {
			r.busy = r.busy[1:]
		}
		busy := span{math.MaxInt64, math.MaxInt64} // the next time in which another thread works
		if len(r.busy) > 0 {
			busy = r.busy[0].span
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

// Overlap is the time, ns, in which two threads of one logical thread have ops or calls open: their order there is
// by time stamps, not by dependency.
func (g *Graph) Overlap() int64 {
	var sum int64
	for _, lanes := range g.logical {
		t := g.Window.Start
		spans := make([]span, 0)
		for _, l := range lanes {
			if len(lanes) > 1 {
				spans = append(spans, g.threads[l].busy...)
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
