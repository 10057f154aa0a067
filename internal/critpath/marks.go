package critpath

import (
	"iter"
	"math"
	"math/bits"
	"sort"

	"overlay/internal/trace"
)

// Owned reports whether a segment belongs to an event; delays, hand-offs and unknown time belong to none.
func (s *Segment) Owned() bool { return s.Event != trace.NoEvent }

// Marks are marks by event, in twelve bytes each and two bits for every event of the trace.
type Marks struct {
	on       *EventSet // the events that have one; nil: none
	ns       []uint32  // by place in on, as the others
	long     map[int32]int64
	id, next []int32
}

// longMark says that a time stands in the table of those that have no room in 32 bits. Tests lower what has.
const longMark = math.MaxUint32

var markLimit int64 = longMark

// newMarks returns marks of the events of a frozen set of n.
func newMarks(on *EventSet, n int) Marks {
	return Marks{on: on, ns: make([]uint32, n), id: make([]int32, n), next: make([]int32, n)}
}

// MarksOf packs a list that is sorted by event.
func MarksOf(list []Mark) Marks {
	if len(list) == 0 {
		return Marks{}
	}
	on := NewEventSet(int(list[len(list)-1].Event) + 1)
	for i := range list {
		if i > 0 && list[i-1].Event >= list[i].Event {
			panic("critpath: internal error: marks are out of order")
		}
		on.Add(list[i].Event)
	}
	ms := newMarks(on, on.Freeze())
	for i, m := range list {
		ms.set(i, m.NS)
		ms.id[i], ms.next[i] = m.ID, m.Next
	}
	return ms
}

func (ms *Marks) set(i int, ns int64) {
	if ns >= 0 && ns < markLimit {
		ms.ns[i] = uint32(ns)
		return
	}
	if ms.long == nil {
		ms.long = map[int32]int64{}
	}
	ms.ns[i], ms.long[int32(i)] = longMark, ns
}

func (ms *Marks) time(i int) int64 {
	if ns := ms.ns[i]; ns != longMark {
		return int64(ns)
	}
	return ms.long[int32(i)]
}

// Len is how many there are.
func (ms *Marks) Len() int { return len(ms.ns) }

// Place is how many events before one have marks, and whether it has one.
func (ms *Marks) Place(e trace.EventID) (int, bool) {
	if ms.on == nil || int(uint32(e)/64) >= len(ms.on.member) || !ms.on.Has(e) {
		return 0, false
	}
	return ms.on.Place(e), true
}

// Of returns the mark of an event, if it has one.
func (ms *Marks) Of(e trace.EventID) (Mark, bool) {
	i, ok := ms.Place(e)
	if !ok {
		return Mark{}, false
	}
	return ms.at(i, e), true
}

func (ms *Marks) at(i int, e trace.EventID) Mark { return Mark{e, ms.time(i), ms.id[i], ms.next[i]} }

// All visits the marks in the order of their events, each with its place.
func (ms *Marks) All() iter.Seq2[int, Mark] { return ms.between(0, ms.Len()) }

// between visits the marks of some places.
func (ms *Marks) between(from, to int) iter.Seq2[int, Mark] {
	return func(yield func(int, Mark) bool) {
		if from == to {
			return
		}
		k := sort.Search(len(ms.on.before), func(k int) bool { return int(ms.on.before[k]) > from }) - 1
		i := int(ms.on.before[k])
		for ; ; k++ {
			for w := ms.on.member[k]; w != 0; w &= w - 1 {
				if i >= from && !yield(i, ms.at(i, trace.EventID(64*k+bits.TrailingZeros64(w)))) {
					return
				}
				if i++; i == to {
					return
				}
			}
		}
	}
}

// mark sums the segments, as a whole and per event, and sets Covered. events is how many the trace has.
func (p *Path) mark(events int) {
	on, total := NewEventSet(events), summer{}
	p.Covered = 0
	for _, s := range p.Segments.All() {
		total.add(s)
		if s.Owned() {
			on.Add(s.Event)
			p.Covered += s.End - s.Start
		}
	}
	t := total.done()
	p.total = &t
	n := on.Freeze()
	ms, longest := newMarks(on, n), Marks{ns: make([]uint32, n)} // the longest segment of each event
	kinds := make([]SegmentKind, n)
	last := -1 // the place of the event before
	for i, s := range p.Segments.All() {
		if !s.Owned() {
			continue
		}
		k, ns := on.Place(s.Event), s.End-s.Start
		sum := ms.time(k)
		if sum == 0 {
			ms.id[k] = int32(i)
		}
		ms.set(k, sum+ns)
		if ns > longest.time(k) {
			longest.set(k, ns)
			kinds[k] = s.Kind
		}
		if last >= 0 {
			ms.next[last] = int32(k) // the last time counts
		}
		last = k
	}
	if last >= 0 {
		ms.next[last] = -1
	}
	for i, k := range ms.next {
		if k >= 0 {
			ms.next[i] = ms.id[k]
		}
	}
	p.Marks, p.kinds = ms, kinds
}
