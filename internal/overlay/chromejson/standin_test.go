package chromejson

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// TestClosest compares with all pairs: the step with the least between is taken, the first of several, and where no number of from
// comes before one of to, the last of from and the first of to.
func TestClosest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := rising(t, "from"), rising(t, "to")
		if len(from) > 0 { // an event has one list, two have no segment in common
			to = slices.DeleteFunc(to, func(x int32) bool { return slices.Contains(from, x) })
		}
		wantI, wantJ, best := int32(-1), int32(-1), int32(math.MaxInt32)
		if len(from) > 0 {
			wantI = from[len(from)-1]
		}
		if len(to) > 0 {
			wantJ = to[0]
		}
		for _, j := range to {
			for _, i := range from {
				if i < j && j-i < best {
					wantI, wantJ, best = i, j, j-i
				}
			}
		}
		if i, j := closest(from, to); i != wantI || j != wantJ {
			t.Fatalf("from %v to %v: %d and %d, want %d and %d", from, to, i, j, wantI, wantJ)
		}
	})
}

func rising(t *rapid.T, name string) []int32 {
	list := rapid.SliceOfNDistinct(rapid.Int32Range(0, 20), 0, 6, func(x int32) int32 { return x }).Draw(t, name)
	slices.Sort(list)
	return list
}

// TestPlaceOfSegment: a segment is reached from its start to that of the next one, as the viewer rounds both; of several that begin
// together none is, and the last is reached for ever.
func TestPlaceOfSegment(t *testing.T) {
	const since = 1_700_000_000_000_000_000 // here the viewer keeps 256 ns
	segments := []overlay.Slice{{Start: since + 1, Dur: 3}, {Start: since + 4, Dur: 996}, {Start: since + 1000, Dur: 1000}, {Start: since + 2000, Dur: 700}}
	s := &standIns{pid: 7, lane: &chromeLane{tid: 9, track: &overlay.Track{Slices: segments, EventOf: func(i int) trace.EventID { return trace.EventID(i) }}, slices: []int32{0, 1, 2, 3}}}
	if s.place(-1) != (place{}) {
		t.Error("there is a place for no segment")
	}
	for at, want := range []struct {
		reached bool
		until   int64
	}{{false, since}, {false, since}, {true, since + 2000}, {true, math.MaxInt64}} {
		p := s.place(int32(at))
		seg := &segments[at]
		if p.pid != 7 || p.tid != 9 || !p.row || p.start != seg.Start || p.end != seg.Start+seg.Dur {
			t.Errorf("segment %d stands at %+v", at, p)
		}
		if p.at.ahead != p.at.from || (p.at.from < p.at.until) != want.reached || want.reached && (p.at.from != seg.Start || p.at.until != want.until) {
			t.Errorf("segment %d is reached from %d to %d, want %+v", at, p.at.from-since, p.at.until-since, want)
		}
	}
}
