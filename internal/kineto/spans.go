package kineto

import (
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Span is where an event stands in the text: the offset of its '{', and in the lower spanArgs bits how far from there its
// args stand. Where it ends is not kept: before the commas and blanks that lead to the next one.
type Span uint64

const (
	spanArgs = 24
	farArgs  = 1<<spanArgs - 1 // the args stand so far away or further
	maxText  = 1 << (64 - spanArgs)
)

// SpanAt is the span of an event at off, whose args stand args bytes behind, 0 for none.
func SpanAt(off, args int64) Span { return Span(uint64(off)<<spanArgs | uint64(min(args, farArgs))) }

// Off is where an event starts.
func (s Span) Off() int64 { return int64(s >> spanArgs) }

// Spans are the spans of all events, in some four bytes each: events stand one behind the other, so of most it is enough to
// say how far they are from the first of their group.
type Spans struct {
	first []int64  // per group: where its first event starts; ^index into whole where the group has no room
	near  []uint32 // per event: the distance from there, and in the lower nearArgs bits how far behind its args stand
	whole []Span   // of the groups that have no room
}

const (
	spanGroup = 64 // events of a group
	nearArgs  = 12
	nearOff   = 32 - nearArgs
)

// NewSpans packs a list.
func NewSpans(list []Span, lend trace.Lender) Spans {
	x := Spans{first: make([]int64, (len(list)+spanGroup-1)/spanGroup), near: trace.Room[uint32](lend, len(list))}
	group := func(g int) []Span { return list[g*spanGroup : min((g+1)*spanGroup, len(list))] }
	par.EachRange(len(x.first), par.Ranges(len(x.first), 1<<10), func(_, from, to int) {
		for g := from; g < to; g++ {
			x.first[g] = packSpans(group(g), x.near[g*spanGroup:])
		}
	})
	for g, off := range x.first {
		if off < 0 {
			x.first[g] = ^int64(len(x.whole))
			x.whole = append(x.whole, group(g)...)
		}
	}
	return x
}

// packSpans fills in near, and tells where the first event of a group starts; -1 where one of them has no room.
func packSpans(list []Span, near []uint32) int64 {
	first := list[0].Off()
	for i, s := range list {
		off, args := s.Off()-first, int64(s&farArgs)
		if off < 0 || off >= 1<<nearOff || args >= 1<<nearArgs {
			return -1
		}
		near[i] = uint32(off)<<nearArgs | uint32(args)
	}
	return first
}

// Len is how many there are.
func (x *Spans) Len() int { return len(x.near) }

// At is the i-th.
func (x *Spans) At(i int) Span {
	first := x.first[i/spanGroup]
	if first < 0 {
		return x.whole[^first+int64(i%spanGroup)]
	}
	v := x.near[i]
	return Span(uint64(first+int64(v>>nearArgs))<<spanArgs | uint64(v&(1<<nearArgs-1)))
}
