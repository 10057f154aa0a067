package critpath

import (
	"math/rand/v2"
	"slices"
	"testing"

	"overlay/internal/trace"
)

// TestMarks: marks come out of their packed form as they went in, whatever has room in 32 bits.
func TestMarks(t *testing.T) {
	defer func(limit int64) { markLimit = limit }(markLimit)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		if markLimit = 1<<32 - 1; round%3 == 0 {
			markLimit = 1000
		}
		var list []Mark
		of := map[trace.EventID]Mark{}
		events := 1 + rng.IntN(500)
		for e := range events {
			if rng.IntN(1+round%7) > 0 {
				continue
			}
			ns := []int64{0, 1, 999, 1000, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<53 + 1, rng.Int64()}[rng.IntN(9)]
			m := Mark{trace.EventID(e), ns, rng.Int32(), rng.Int32N(5) - 1}
			list, of[m.Event] = append(list, m), m
		}
		ms := MarksOf(list)
		if ms.Len() != len(list) || !slices.Equal(ms.List(), list) {
			t.Fatalf("round %d: %d marks, want %d", round, ms.Len(), len(list))
		}
		for e := trace.NoEvent; int(e) < events+200; e++ {
			want, is := of[e]
			if got, ok := ms.Of(e); ok != is || got != want {
				t.Fatalf("round %d, event %d: %+v %v, want %+v %v", round, e, got, ok, want, is)
			}
		}
		from, to := rng.IntN(len(list)+1), rng.IntN(len(list)+1)
		from, to = min(from, to), max(from, to)
		at := from
		for i, m := range ms.between(from, to) {
			if i != at || m != list[i] {
				t.Fatalf("round %d: %+v in place %d of %d to %d", round, m, i, from, to)
			}
			at++
		}
		if at != to {
			t.Fatalf("round %d: %d marks of %d to %d", round, at-from, from, to)
		}
		for i, m := range ms.All() {
			if place, ok := ms.Place(m.Event); !ok || place != i {
				t.Fatalf("round %d: event %d in place %d, not %d", round, m.Event, place, i)
			}
		}
	}
}

// TestMarksSum: the segments of an event sum to its mark, where the sum has no room in 32 bits, too.
func TestMarksSum(t *testing.T) {
	list := []Segment{{Start: 0, End: 3 << 30, Event: 7}, {Start: 3 << 30, End: 4 << 30, Event: 2}, {Start: 4 << 30, End: 5 << 30, Event: trace.NoEvent}, {Start: 5 << 30, End: 8 << 30, Event: 7}}
	p := &Path{Segments: SegmentsOf(list)}
	p.mark(9)
	if want := []Mark{{2, 1 << 30, 1, 0}, {7, 6 << 30, 0, -1}}; !slices.Equal(p.Marks.List(), want) || p.Covered != 7<<30 {
		t.Errorf("%+v, want %+v; covered %d", p.Marks.List(), want, p.Covered)
	}
}
