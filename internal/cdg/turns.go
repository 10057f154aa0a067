package cdg

import (
	"math"
)

// turns goes through the threads of one process in order of time and knows at each instant what each of them was doing,
// so that who ended a wait is found without a look at every thread: of the threads that may have, in most cases the one
// that passed a border last.
type turns struct {
	b     *threadBinder
	lanes []LaneID
	index []int32 // per lane of the trace: its place in lanes

	next []int32 // per thread: the next piece to begin
	busy []int32 // per thread: how many of its busy spans began before now, as far as anybody asked
	ends []int32 // per thread: the busy span that ends next
	when []int64 // per thread: when the next of its pieces begins or busy spans ends
	heap []int32 // threads, the one with the earliest event first

	newer, older []int32 // list of the threads that have begun, by their last border; -1 ends it
	last         int32   // the head of the list
	torn         []bool  // per thread: a busy span ended after its last border, under a slice that does not nest
	tornCount    int

	batch   []int32 // threads with an event now
	instant []instant
	asked   []int32 // per thread: the number of the instant at which a point inside a piece was last asked for
	place   []int32 // per thread: 1 + its place in instant, 0 without
}

// instant is a hand-off that takes no time: the other thread's work ends just now.
type instant struct {
	lane, to LaneID
	piece    int     // in which the thread waited
	slot     *WaitID // where the answer is kept
}

func newTurns(b *threadBinder, lanes []LaneID, index []int32) *turns {
	n := len(lanes)
	s := &turns{b: b, lanes: lanes, index: index, next: make([]int32, n), busy: make([]int32, n), ends: make([]int32, n), when: make([]int64, n),
		newer: make([]int32, n), older: make([]int32, n), last: -1, torn: make([]bool, n), asked: make([]int32, n), place: make([]int32, n)}
	for i, l := range lanes {
		index[l] = int32(i)
		s.next[i], s.newer[i], s.older[i] = b.d.PieceFirst[l], -1, -1
		if s.schedule(int32(i)) {
			s.heap = append(s.heap, int32(i))
		}
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.sift(i)
	}
	return s
}

// border is when the next piece of a thread begins.
func (s *turns) border(i int32) int64 {
	if s.next[i] == s.b.d.PieceFirst[s.lanes[i]+1] {
		return math.MaxInt64
	}
	return s.b.d.Pieces[s.next[i]].Start
}

// schedule sets the time of a thread's next event; false when there is none.
func (s *turns) schedule(i int32) bool {
	s.when[i] = s.border(i)
	if busy := s.b.threads[s.lanes[i]].busy; int(s.ends[i]) < len(busy) {
		s.when[i] = min(s.when[i], busy[s.ends[i]].End)
	}
	return s.when[i] < math.MaxInt64
}

// sift moves a thread of the heap down to its place.
func (s *turns) sift(at int) {
	h := s.heap
	for {
		least := at
		for _, c := range [2]int{2*at + 1, 2*at + 2} {
			if c < len(h) && (s.when[h[c]] < s.when[h[least]] || s.when[h[c]] == s.when[h[least]] && h[c] < h[least]) {
				least = c
			}
		}
		if least == at {
			return
		}
		h[at], h[least] = h[least], h[at]
		at = least
	}
}

// run answers all borders of the process and the given points inside pieces, which are sorted by time. A hand-off at
// the instant at which the other thread's work ends asks for a point on that thread at the same instant.
func (s *turns) run(inside []Inside, t0 int64) {
	b, d := s.b, s.b.d
	for now := int32(1); len(s.heap) > 0 || len(inside) > 0; now++ {
		t := int64(math.MaxInt64)
		if len(s.heap) > 0 {
			t = s.when[s.heap[0]]
		}
		if len(inside) > 0 {
			t = min(t, inside[0].At)
		}
		s.take(t)
		b.inside = b.inside[:0]
		for _, i := range s.batch {
			if lane := s.lanes[i]; s.border(i) == t {
				d.Pieces[s.next[i]].Begun = NoWait
				if piece := s.piece(i); d.waits(lane, piece) {
					d.Pieces[s.next[i]].Begun = b.bindPoint(lane, piece, t, t0)
					s.noteInstant(lane, piece, &d.Pieces[s.next[i]].Begun)
				}
			}
		}
		for ; len(inside) > 0 && inside[0].At == t; inside = inside[1:] {
			b.inside = append(b.inside, inside[0])
		}
		known := len(d.Inside)
		for k := 0; k < len(b.inside); k++ {
			x := b.inside[k]
			i := s.index[x.Lane]
			if s.border(i) == t || s.asked[i] == now || !d.waits(x.Lane, s.piece(i)) {
				continue // a border, which has its answer, or asked before, or time of its own
			}
			s.asked[i] = now
			x.Wait = b.bindPoint(x.Lane, s.piece(i), t, t0)
			d.Inside = append(d.Inside, x)
		}
		for k := known; k < len(d.Inside); k++ {
			x := &d.Inside[k]
			s.noteInstant(x.Lane, s.piece(s.index[x.Lane]), &x.Wait)
		}
		s.breakCircles(t, t0)
		s.cross(t)
	}
	b.inside = nil
}

// piece is the piece in which a thread is just before now, -1 before its first.
func (s *turns) piece(i int32) int {
	if s.next[i] == s.b.d.PieceFirst[s.lanes[i]] {
		return -1
	}
	return int(s.next[i]) - 1
}

func (s *turns) noteInstant(lane LaneID, piece int, slot *WaitID) {
	if *slot == NoWait {
		return
	}
	if w := &s.b.d.Waits[*slot]; w.Rule == Handoff && w.Lag == 0 {
		s.instant = append(s.instant, instant{lane, s.b.d.Acts[w.From].Lane, piece, slot})
	}
}

// breakCircles lets no threads wait for each other at one instant, as threads would that end an op together while a
// frame in each may have waited: of such a circle the last thread waited for nobody. A thread has at most one hand-off
// at an instant, so whoever follows them comes to an end or into a circle.
func (s *turns) breakCircles(t, t0 int64) {
	if len(s.instant) < 2 {
		s.instant = s.instant[:0]
		return
	}
	for k := range s.instant {
		s.place[s.index[s.instant[k].lane]] = int32(k) + 1
	}
	next := func(k int32) int32 { return s.place[s.index[s.instant[k].to]] - 1 }
	walk := make([]int32, len(s.instant)) // per hand-off: the number of the walk that came by
	for start := range s.instant {
		k, number := int32(start), int32(start)+1
		for k >= 0 && walk[k] == 0 {
			walk[k] = number
			k = next(k)
		}
		if k < 0 || walk[k] != number {
			continue
		}
		last := k
		for at := next(k); at != k; at = next(at) {
			if s.instant[at].lane > s.instant[last].lane {
				last = at
			}
		}
		x := &s.instant[last]
		s.b.d.Waits[*x.slot].Bound = false
		s.b.turns = nil // nobody hands over
		*x.slot = s.b.bindPoint(x.lane, x.piece, t, t0)
		s.b.turns = s
	}
	for k := range s.instant {
		s.place[s.index[s.instant[k].lane]] = 0
	}
	s.instant = s.instant[:0]
}

// take moves the threads with an event at t from the heap into the batch.
func (s *turns) take(t int64) {
	s.batch = s.batch[:0]
	for len(s.heap) > 0 && s.when[s.heap[0]] == t {
		s.batch = append(s.batch, s.heap[0])
		n := len(s.heap) - 1
		s.heap[0] = s.heap[n]
		s.heap = s.heap[:n]
		s.sift(0)
	}
}

// cross lets the threads of the batch pass what happens at t.
func (s *turns) cross(t int64) {
	for _, i := range s.batch {
		ended := false
		for busy := s.b.threads[s.lanes[i]].busy; int(s.ends[i]) < len(busy) && busy[s.ends[i]].End == t; s.ends[i]++ {
			ended = true
		}
		passed := s.border(i) == t
		if passed {
			s.next[i]++
			s.toFront(i)
		}
		if torn := ended && !passed; (torn || passed) && torn != s.torn[i] {
			s.torn[i] = torn
			if s.tornCount--; torn {
				s.tornCount += 2
			}
		}
		if s.schedule(i) {
			s.heap = append(s.heap, i)
			for at := len(s.heap) - 1; at > 0; at = (at - 1) / 2 {
				s.sift((at - 1) / 2)
			}
		}
	}
}

// toFront makes a thread the one that passed a border last.
func (s *turns) toFront(i int32) {
	if s.last == i {
		return
	}
	if s.newer[i] >= 0 {
		s.older[s.newer[i]] = s.older[i]
		if s.older[i] >= 0 {
			s.newer[s.older[i]] = s.newer[i]
		}
	}
	s.older[i], s.newer[i] = s.last, -1
	if s.last >= 0 {
		s.newer[s.last] = i
	}
	s.last = i
}
