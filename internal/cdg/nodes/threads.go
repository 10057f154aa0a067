package nodes

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/cdg"
)

// Piece is a piece of a logical thread: time that belongs to one activity. That is self time, or the start of an
// activity that owns no time there (an instant, or covered by what it encloses).
type Piece struct {
	Start, End int64 // ns, inside the window
	Act        cdg.ActID
	starts     bool // the activity starts here
}

// eachPiece visits the pieces of a logical thread in order of time, until visit returns false. Self time of annotations and frames
// while another of its threads has ops or calls open is waiting, not work, and is left out. Where two of its threads
// work at a time, pieces overlap; of equal starts the earlier thread comes first.
func eachPiece(g *cdg.Graph, lanes []cdg.LaneID, visit func(*Piece) bool) {
	feeds := make([]feed, len(lanes))
	busy := busyTimes(g, lanes)
	var heap feedHeap
	for i, l := range lanes {
		feeds[i] = feed{g: g, lane: l, window: cdg.Span{Start: g.Window.Start, End: g.Window.End}, busy: busy, act: g.Lanes[l].First, pieces: g.Pieces[g.PieceFirst[l]:g.PieceFirst[l+1]]}
		if feeds[i].fill(); len(feeds[i].ready) > 0 {
			heap = append(heap, &feeds[i])
		}
	}
	for i := len(heap)/2 - 1; i >= 0; i-- {
		heap.sink(i)
	}
	for len(heap) > 0 {
		// The feed that comes first goes on until another one does.
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

// feedHeap has the feed first whose next piece comes first: feed i comes before the feeds 2i+1 and 2i+2.
type feedHeap []*feed

func (h feedHeap) sink(i int) {
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

// second is the feed that comes next after the first, nil without one.
func (h feedHeap) second() *feed {
	switch {
	case len(h) < 2:
		return nil
	case len(h) > 2 && h[2].before(h[1]):
		return h[2]
	}
	return h[1]
}

// before orders feeds by the start of their next piece, then by thread.
func (r *feed) before(o *feed) bool {
	a, b := r.ready[0].Start, o.ready[0].Start
	return a < b || a == b && r.lane < o.lane
}

// feed makes the pieces of one thread, some at a time.
type feed struct {
	g      *cdg.Graph
	lane   cdg.LaneID
	window cdg.Span
	busy   []busyLane  // when all threads work, from now on; nil when there is no other
	act    cdg.ActID   // the next activity
	pieces []cdg.Piece // the next ones
	ready  []Piece
	buf    []Piece
}

// piecesAhead is how many pieces a feed makes at a time: enough to forget the cost of a call, few enough for the cache.
const piecesAhead = 256

// fill makes pieces until some are ready or the thread is over.
func (r *feed) fill() {
	g, w := r.g, r.window
	limit := g.Lanes[r.lane].Limit
	out := r.buf[:0]
	for ; r.act < limit && len(out) < piecesAhead; r.act++ {
		act := &g.Acts[r.act]
		for len(r.pieces) > 0 && (r.pieces[0].Start < act.Start || r.pieces[0].Start == act.Start && r.pieces[0].Owner < r.act) {
			out = r.piece(false, out)
		}
		if len(r.pieces) > 0 && r.pieces[0].Start == act.Start && r.pieces[0].Owner == r.act {
			out = r.piece(true, out)
		} else if act.Start >= w.Start && act.Start <= w.End {
			out = append(out, Piece{act.Start, act.Start, r.act, true})
		}
	}
	for r.act == limit && len(r.pieces) > 0 {
		out = r.piece(false, out)
	}
	r.ready, r.buf = out, out
}

// piece takes the next piece; starts says that its owner starts with it.
func (r *feed) piece(starts bool, out []Piece) []Piece {
	s := Piece{r.pieces[0].Start, math.MaxInt64, r.pieces[0].Owner, starts}
	if r.pieces = r.pieces[1:]; s.Act == cdg.NoAct {
		return out
	}
	if len(r.pieces) > 0 {
		s.End = r.pieces[0].Start
	}
	if s.Start < r.window.Start {
		s.Start, s.starts = r.window.Start, false
	}
	if s.End = min(s.End, r.window.End); s.Start < s.End {
		out = r.work(s, out)
	}
	return out
}

// busyLane is time in which a thread has ops or calls open.
type busyLane struct {
	cdg.Span
	lane cdg.LaneID
}

// busyTimes lists when the threads of a logical thread work, in order of time; nil for a single one.
func busyTimes(g *cdg.Graph, lanes []cdg.LaneID) []busyLane {
	if len(lanes) == 1 {
		return nil
	}
	var all []busyLane
	for _, l := range lanes {
		for _, s := range g.Busy(l) {
			all = append(all, busyLane{s, l})
		}
	}
	cdg.SortRuns(all, func(x, y *busyLane) bool { return x.Start < y.Start || x.Start == y.Start && x.lane < y.lane })
	return all
}

// work appends a piece, less the time in which it only waits for another thread. Pieces come in order of time, so
// what another thread did before is passed over once.
func (r *feed) work(s Piece, out []Piece) []Piece {
	if r.busy == nil || !r.g.Marker(s.Act) {
		return append(out, s)
	}
	at, starts := s.Start, s.starts
	for at < s.End {
		for len(r.busy) > 0 && (r.busy[0].lane == r.lane || r.busy[0].End <= at) {
			r.busy = r.busy[1:]
		}
		busy := cdg.Span{Start: math.MaxInt64, End: math.MaxInt64} // the next time in which another thread works
		if len(r.busy) > 0 {
			busy = r.busy[0].Span
		}
		if stop := min(busy.Start, s.End); at < stop {
			out = append(out, Piece{at, stop, s.Act, starts})
			starts = false
		} else if starts {
			out = append(out, Piece{at, at, s.Act, true})
			starts = false
		}
		at = max(at, busy.End)
	}
	return out
}

// Overlap is the time, ns, in which two threads of one logical thread have ops or calls open: their order there is
// by time stamps, not by dependency.
func (s *Aggregated) Overlap(g *cdg.Graph) int64 {
	var sum int64
	for _, lanes := range s.threads {
		t := g.Window.Start
		spans := make([]cdg.Span, 0)
		for _, l := range lanes {
			if len(lanes) > 1 {
				spans = append(spans, g.Busy(l)...)
			}
		}
		slices.SortFunc(spans, func(x, y cdg.Span) int { return cmp.Compare(x.Start, y.Start) })
		for _, s := range spans {
			start, end := max(s.Start, g.Window.Start), min(s.End, g.Window.End)
			if start < end {
				sum += max(0, min(t, end)-start)
				t = max(t, end)
			}
		}
	}
	return sum
}
