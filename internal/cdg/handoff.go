package cdg

import (
	"sort"

	"overlay/internal/kineto"
)

const (
	handoffGap  = 2 * us // a wait shorter than this is ordinary time between slices
	turnOverlap = 20     // two threads take turns when at most 1/20 of the smaller busy time overlaps
	turnsNeeded = 20     // busy intervals that both need, unless one is an autograd thread
)

// pairThreads finds the threads that take turns: pairwise, once.
func (b *builder) pairThreads() {
	d := b.d
	d.Partners = make([][]LaneID, len(d.Lanes))
	if b.o.without(Handoff) {
		return
	}
	for x := range d.Lanes {
		for y := x + 1; y < len(d.Lanes); y++ {
			if d.Lanes[x].Stream || d.Lanes[y].Stream || d.Lanes[x].Proc != d.Lanes[y].Proc {
				continue
			}
			if b.takeTurns(&b.threads[x], &b.threads[y]) {
				d.Partners[x] = append(d.Partners[x], LaneID(y))
				d.Partners[y] = append(d.Partners[y], LaneID(x))
			}
		}
	}
}

func (b *builder) takeTurns(x, y *threadInfo) bool {
	if x.ops == 0 || y.ops == 0 || len(x.busy) == 0 || len(y.busy) == 0 {
		return false
	}
	if !x.autograd && !y.autograd && (len(x.busy) < turnsNeeded || len(y.busy) < turnsNeeded) {
		return false
	}
	if len(x.busy) > len(y.busy) {
		x, y = y, x
	}
	limit, overlap := min(x.busyTime, y.busyTime)/turnOverlap, int64(0)
	for _, s := range x.busy {
		i := sort.Search(len(y.busy), func(i int) bool { return y.busy[i].end > s.start })
		for ; i < len(y.busy) && y.busy[i].start < s.end; i++ {
			overlap += min(s.end, y.busy[i].end) - max(s.start, y.busy[i].start)
		}
		if overlap > limit {
			return false
		}
	}
	return true
}

// HandoffAt finds the thread that ended a wait of another: the wait lasted over (from, t], and its owner is the
// slice that waited, NoAct in a gap. It returns the thread and its last boundary h <= t.
func (d *Deps) HandoffAt(tr *kineto.Trace, lane LaneID, owner ActID, from, t int64) (to LaneID, h int64, ok bool) {
	if t-from <= handoffGap {
		return NoLane, 0, false
	}
	for _, p := range d.Partners[lane] {
		if at, good := d.endedWait(p, from, t); good && (!ok || at > h) {
			to, h, ok = p, at, true
		}
	}
	return to, h, ok
}

// endedWait reports whether a thread ended an op or call in (from, t] and is idle at t, and its last boundary.
func (d *Deps) endedWait(lane LaneID, from, t int64) (int64, bool) {
	busy := d.threads[lane].busy
	n := sort.Search(len(busy), func(i int) bool { return busy[i].start >= t })
	if n == 0 || busy[n-1].end > t || busy[n-1].end <= from {
		return 0, false
	}
	if busy[n-1].end == t {
		return t, true
	}
	i := d.PieceAt(lane, t)
	return d.Pieces[i].Start, true
}
