package critpath

import (
	"math/bits"

	"overlay/internal/trace"
)

// EventSet is a set of events that numbers its members by position: two bits an event, where an index of them would
// take 32.
type EventSet struct {
	member []uint64
	before []int32 // per word of member: how many members stand before it
}

// NewEventSet returns an empty set for the events of a trace.
func NewEventSet(events int) *EventSet {
	return &EventSet{member: make([]uint64, (events+63)/64)}
}

// Add puts an event into the set, which must not be frozen.
func (s *EventSet) Add(e trace.EventID) { s.member[uint32(e)/64] |= 1 << (uint32(e) % 64) }

// Freeze numbers the members and returns how many there are.
func (s *EventSet) Freeze() int {
	s.before = make([]int32, len(s.member))
	n := 0
	for i, w := range s.member {
		s.before[i] = int32(n)
		n += bits.OnesCount64(w)
	}
	return n
}

// Has reports whether an event is a member.
func (s *EventSet) Has(e trace.EventID) bool { return s.member[uint32(e)/64]>>(uint32(e)%64)&1 != 0 }

// Place is how many members of a frozen set stand before the event in the trace.
func (s *EventSet) Place(e trace.EventID) int {
	i := uint32(e)
	return int(s.before[i/64]) + bits.OnesCount64(s.member[i/64]&(1<<(i%64)-1))
}
