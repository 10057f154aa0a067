package perfetto

import (
	"cmp"
	"container/heap"
	"slices"
)

// lane is a run of items that nest, or a piece of one: one packet sequence.
type lane struct {
	track int // index into Trace.Tracks
	uuid  uint64
	items []Item
	open  []int64 // ends of the slices that are open where the piece begins, innermost last
	more  bool    // another piece follows and closes what is open
	unit  int64   // ns: of its clock
}

// pieceItems bounds a sequence: pieces of a long row are encoded side by side, each with few strings of its own.
const pieceItems = 1 << 16

// splitTrack is what becomes of the items of a track.
type splitTrack struct {
	lanes    [][]lane // the pieces of each, without track and uuid
	instants int
	deep     int // items that only their depth moved to another lane
}

// split sorts the items of a track and distributes them over lanes in pieces of size items.
func (t *Track) split(size int) (s splitTrack) {
	if len(t.Items) == 0 {
		return s
	}
	sortItems(t.Items)
	pieces, fit := cut(t.Items, size)
	if fit {
		s.lanes = [][]lane{pieces}
	} else {
		var runs [][]Item
		runs, s.deep = splitLanes(t.Items)
		for _, items := range runs {
			pieces, _ = cut(items, size)
			s.lanes = append(s.lanes, pieces)
		}
	}
	for i := range t.Items {
		if t.Items[i].Instant {
			s.instants++
		}
	}
	return s
}

// cut makes pieces of size items out of items that begin in order. It reports false where they do not fit into one lane.
func cut(items []Item, size int) (pieces []lane, fit bool) {
	var s stack
	next := 0
	for i := range items {
		if i == next {
			next = min(i+size, len(items))
			pieces = append(pieces, lane{items: items[i:next], open: slices.Clone(s.ends), more: next < len(items)})
		}
		if ok, _ := s.fits(&items[i]); !ok {
			return nil, false
		}
		s.push(&items[i])
	}
	return pieces, true
}

// findUnit sets the unit to the greatest one in which the clock, which starts at start, can tell all times of the lane:
// 1 µs in traces of whole µs. Numbers are shorter for it.
func (l *lane) findUnit(t *Track, start int64) {
	unit := int64(0)
	tell := func(d int64) bool {
		if unit == 0 || d%unit != 0 {
			unit = gcd(unit, d)
		}
		return unit != 1
	}
	for i := range l.items {
		if it := &l.items[i]; !tell(it.Start-start) || !tell(it.Dur) {
			break
		}
	}
	for _, end := range l.open {
		tell(end - start)
	}
	if t.Kind == Counter {
		for i := range t.Points {
			tell(t.Points[i].TS - start)
		}
	}
	l.unit = max(unit, 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// compareItems is the order in which items of one row begin: at one time stamp the longest slice first, slices
// without length after those that may contain them, instants last (an instant stays on the viewer's stack until
// time moves on).
func compareItems(a, b Item) int {
	switch {
	case a.Start != b.Start:
		return cmp.Compare(a.Start, b.Start)
	case a.Dur != b.Dur:
		return cmp.Compare(b.Dur, a.Dur)
	case a.Instant != b.Instant:
		if b.Instant {
			return -1
		}
		return 1
	case a.Rank != b.Rank:
		return cmp.Compare(a.Rank, b.Rank)
	}
	return cmp.Compare(a.Ref, b.Ref)
}

// Sorted returns the items in the order in which they begin, outer ones first. It sorts them in place.
func (t *Track) Sorted() []Item {
	sortItems(t.Items)
	return t.Items
}

func inOrder(items []Item) bool {
	for i := 1; i < len(items); i++ {
		if a, b := &items[i-1], &items[i]; a.Start >= b.Start && compareItems(*a, *b) > 0 {
			return false
		}
	}
	return true
}

func sortItems(items []Item) {
	if inOrder(items) {
		return
	}
	if len(items) < radixFrom {
		slices.SortFunc(items, compareItems)
		return
	}
	sortByStart(items)
	for i := 0; i < len(items); {
		k := i + 1
		for k < len(items) && items[k].Start == items[i].Start {
			k++
		}
		if k-i > 1 {
			slices.SortFunc(items[i:k], compareItems)
		}
		i = k
	}
}

const (
	radixFrom = 1 << 12 // items from which passes over all of them pay
	radixBits = 11
)

// sortByStart is a stable radix sort.
func sortByStart(items []Item) {
	first, last := items[0].Start, items[0].Start
	for i := range items {
		first, last = min(first, items[i].Start), max(last, items[i].Start)
	}
	from, to := items, make([]Item, len(items))
	for shift := 0; uint64(last-first)>>shift > 0; shift += radixBits {
		var at [1 << radixBits]int
		for i := range from {
			at[uint64(from[i].Start-first)>>shift&(1<<radixBits-1)]++
		}
		sum := 0
		for b, n := range at {
			at[b], sum = sum, sum+n
		}
		for i := range from {
			b := uint64(from[i].Start-first) >> shift & (1<<radixBits - 1)
			to[at[b]] = from[i]
			at[b]++
		}
		from, to = to, from
	}
	if &from[0] != &items[0] {
		copy(items, from)
	}
}

// stack is the open slices of a lane while it is filled.
type stack struct {
	ends     []int64 // innermost last; never increasing
	instants int     // instants at instantTS; the viewer stacks them
	at       int64
}

// close ends what ends by a time.
func (s *stack) close(at int64) {
	for len(s.ends) > 0 && s.ends[len(s.ends)-1] <= at {
		s.ends = s.ends[:len(s.ends)-1]
	}
}

// fits reports whether an item may join the lane, after closing what ended before it. deep says that only the depth
// is in the way.
func (s *stack) fits(it *Item) (ok, deep bool) {
	s.close(it.Start)
	if len(s.ends) > 0 && it.Start+it.Dur > s.ends[len(s.ends)-1] {
		return false, false
	}
	depth := len(s.ends)
	if it.Instant && s.at == it.Start {
		depth += s.instants
	}
	return depth < MaxDepth, depth >= MaxDepth
}

func (s *stack) push(it *Item) {
	if !it.Instant {
		s.ends = append(s.ends, it.Start+it.Dur)
		return
	}
	if s.at != it.Start {
		s.at, s.instants = it.Start, 0
	}
	s.instants++
}

// fewLanes is how many lanes of a row are filled with slices that nest, first fit. Where more than that overlap, each further
// lane holds slices that do not meet.
const fewLanes = 16

// splitLanes takes items that begin in order and distributes them over lanes. Within a lane any two slices nest or do not
// meet, and at most MaxDepth are open at once. deep counts the items that only their depth moved. The result shares
// memory with items when one lane is enough.
func splitLanes(items []Item) (lanes [][]Item, deep int) {
	stacks := make([]stack, 1, fewLanes)
	var further laneEnds
	n := 1         // lanes
	var of []int32 // lane of each item, once a second lane was needed
	for i := range items {
		it := &items[i]
		l, moved := 0, false
		for ; l < len(stacks); l++ {
			ok, tooDeep := stacks[l].fits(it)
			if ok {
				break
			}
			moved = moved || tooDeep
		}
		switch {
		case l < len(stacks):
			stacks[l].push(it)
		case l < fewLanes:
			stacks = append(stacks, stack{})
			stacks[l].push(it)
			n++
		default:
			if len(further) > 0 && further[0].end <= it.Start {
				l = heap.Pop(&further).(laneEnd).lane
			} else {
				l = n
				n++
			}
			heap.Push(&further, laneEnd{it.Start + max(it.Dur, 1), l})
		}
		if moved {
			deep++
		}
		if l > 0 && of == nil {
			of = make([]int32, len(items))
		}
		if of != nil {
			of[i] = int32(l)
		}
	}
	if of == nil {
		return [][]Item{items}, deep
	}
	return distribute(items, of, n), deep
}

// laneEnd is when a lane is free again: after an instant, which stays on the viewer's stack, when time moves on.
type laneEnd struct {
	end  int64
	lane int
}

// laneEnds is a heap with the least end first.
type laneEnds []laneEnd

func (h laneEnds) Len() int { return len(h) }
func (h laneEnds) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].end, h[j].end), cmp.Compare(h[i].lane, h[j].lane)) < 0
}
func (h laneEnds) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *laneEnds) Push(x any)   { *h = append(*h, x.(laneEnd)) }
func (h *laneEnds) Pop() any {
	n := len(*h) - 1
	e := (*h)[n]
	*h = (*h)[:n]
	return e
}

// distribute cuts items into n runs by of, keeping their order.
func distribute(items []Item, of []int32, n int) [][]Item {
	sizes := make([]int, n)
	for _, l := range of {
		sizes[l]++
	}
	slab := make([]Item, len(items))
	lanes := make([][]Item, n)
	at := 0
	for l, size := range sizes {
		lanes[l] = slab[at : at : at+size]
		at += size
	}
	for i, it := range items {
		lanes[of[i]] = append(lanes[of[i]], it)
	}
	return lanes
}
