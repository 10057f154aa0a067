package perfetto

import (
	"container/heap"
	"math"
)

// fewLanes is the number of lanes up to which they are tried one after the other.
const fewLanes = 16

// manyLanes finds the first lane that takes an item by search: where all slices of a row overlap, there are as many
// lanes as slices. Items come in the order of compareItems.
type manyLanes struct {
	stacks []stack
	room   maxTree // per lane: the latest end that it takes; before everything where it is too deep
	deep   maxTree // per lane that is too deep: the latest end that it would take else; before everything for all others
	ends   endHeap // of each lane the end of the innermost open slice, and some that are closed
	at     int64   // start of the latest instant
	full   int     // the lanes before this one take no further instant at that time
}

func newManyLanes(stacks []stack) *manyLanes {
	m := &manyLanes{}
	for _, s := range stacks {
		m.add(s)
	}
	return m
}

func (m *manyLanes) add(s stack) {
	m.stacks = append(m.stacks, s)
	m.update(len(m.stacks) - 1)
}

// update takes over what became of the slices of a lane.
func (m *manyLanes) update(lane int) {
	ends := m.stacks[lane].ends
	room, deep := int64(math.MaxInt64), int64(math.MinInt64)
	if n := len(ends); n > 0 {
		room = ends[n-1]
		heap.Push(&m.ends, laneEnd{room, lane})
		if n >= MaxDepth {
			room, deep = deep, room
		}
	}
	m.room.set(lane, room)
	m.deep.set(lane, deep)
}

// place puts an item into the first lane that takes it, a new one if there is none. moved says that a lane before it
// would have taken the item but for its depth.
func (m *manyLanes) place(it *Item) (lane int, moved bool) {
	for len(m.ends) > 0 && m.ends[0].end <= it.Start {
		e := heap.Pop(&m.ends).(laneEnd)
		if m.stacks[e.lane].close(it.Start) {
			m.update(e.lane)
		}
	}
	if it.Instant {
		lane = m.firstForInstant(it)
	} else {
		lane = m.room.first(0, it.Start+it.Dur)
	}
	if lane < 0 {
		lane = len(m.stacks)
		m.add(stack{})
	}
	if it.Instant { // it ends before every open slice: only depth can have moved it
		moved = lane > 0
	} else if d := m.deep.first(0, it.Start+it.Dur); d >= 0 {
		moved = d < lane
	}
	m.stacks[lane].push(it)
	if !it.Instant {
		m.update(lane)
	}
	return lane, moved
}

// firstForInstant returns the first lane with room for an instant, -1 when there is none. The instants of one time come
// one after the other, so that none looks at the lanes that those before it have filled.
func (m *manyLanes) firstForInstant(it *Item) int {
	if m.at != it.Start {
		m.at, m.full = it.Start, 0
	}
	for lane := m.room.first(m.full, it.Start); lane >= 0; lane = m.room.first(lane+1, it.Start) {
		m.full = lane
		if ok, _ := m.stacks[lane].fits(it); ok {
			return lane
		}
	}
	m.full = len(m.stacks)
	return -1
}

// maxTree finds the first of a growing list of numbers that reaches a bound. Node i has the children 2i and 2i+1 and
// holds the greater of the two; the numbers are the leaves.
type maxTree struct{ nodes []int64 }

func (t *maxTree) set(i int, v int64) {
	leaves := len(t.nodes) / 2
	if i >= leaves {
		t.grow(max(2*leaves, i+1, 32))
		leaves = len(t.nodes) / 2
	}
	k := leaves + i
	t.nodes[k] = v
	for k /= 2; k > 0; k /= 2 {
		t.nodes[k] = max(t.nodes[2*k], t.nodes[2*k+1])
	}
}

// grow makes room for n numbers, a power of two.
func (t *maxTree) grow(n int) {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	old := t.nodes[len(t.nodes)/2:]
	t.nodes = make([]int64, 2*leaves)
	for i := range t.nodes {
		t.nodes[i] = math.MinInt64
	}
	copy(t.nodes[leaves:], old)
	for k := leaves - 1; k > 0; k-- {
		t.nodes[k] = max(t.nodes[2*k], t.nodes[2*k+1])
	}
}

// first returns the least index, from one on, of a number that is at least v and not the least of all; -1 without one.
func (t *maxTree) first(from int, v int64) int {
	leaves := len(t.nodes) / 2
	v = max(v, math.MinInt64+1)
	if from >= leaves {
		return -1
	}
	// Climb until a subtree right of the way reaches the bound, then descend into it.
	k := leaves + from
	for t.nodes[k] < v {
		for k&1 == 1 {
			k /= 2
		}
		if k == 0 {
			return -1
		}
		k++
	}
	for k < leaves {
		if k *= 2; t.nodes[k] < v {
			k++
		}
	}
	return k - leaves
}

type laneEnd struct {
	end  int64
	lane int
}

// endHeap has the least end first.
type endHeap []laneEnd

func (h endHeap) Len() int           { return len(h) }
func (h endHeap) Less(i, j int) bool { return h[i].end < h[j].end }
func (h endHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *endHeap) Push(x any)        { *h = append(*h, x.(laneEnd)) }
func (h *endHeap) Pop() any {
	n := len(*h) - 1
	e := (*h)[n]
	*h = (*h)[:n]
	return e
}
