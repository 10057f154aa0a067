package perfetto

import (
	"container/heap"
	"math/rand/v2"
	"testing"
)

// TestSplitLanes holds the lanes against what the viewer needs of each: that slices nest or do not meet, that no more are open than it keeps. There
// are no more lanes than overlaps ask for.
func TestSplitLanes(t *testing.T) {
	most, moved := 0, 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 1 + r.IntN(2000)
		if seed%20 == 0 {
			n = 16_000
		}
		span, longest := 1+r.Int64N(int64(2*n)), 1+r.Int64N(int64(4*n))
		if seed%4 == 0 {
			span, longest = 1+r.Int64N(4), 1+r.Int64N(4) // deep: most slices are equal
		}
		items := make([]Item, n)
		for i := range items {
			items[i] = Item{Start: r.Int64N(span) - span/2, Dur: r.Int64N(longest), Ref: int32(i)}
			if r.IntN(4) == 0 {
				items[i].Dur, items[i].Instant = 0, r.IntN(2) == 0
			}
		}
		sortItems(items)
		lanes, deep := splitLanes(items)
		found := 0
		for l, list := range lanes {
			var s stack
			for k := range list {
				if ok, _ := s.fits(&list[k]); !ok {
					t.Fatalf("seed %d: item %d of lane %d does not fit", seed, k, l)
				}
				s.push(&list[k])
			}
			if len(list) == 0 {
				t.Fatalf("seed %d: lane %d is empty", seed, l)
			}
			found += len(list)
		}
		if found != n {
			t.Fatalf("seed %d: %d of %d items", seed, found, n)
		}
		together, open := 0, laneEnds{} // as many as meet at one time, whether they nest or not
		for _, it := range items {
			for len(open) > 0 && open[0].end <= it.Start {
				heap.Pop(&open)
			}
			heap.Push(&open, laneEnd{end: it.Start + max(it.Dur, 1)})
			together = max(together, len(open))
		}
		if len(lanes) > together {
			t.Fatalf("seed %d: %d lanes for %d items that meet", seed, len(lanes), together)
		}
		most, moved = max(most, len(lanes)), moved+deep
	}
	if most <= 4*fewLanes || moved == 0 {
		t.Errorf("at most %d lanes, %d slices moved for their depth: too few to show anything", most, moved)
	}
}

// TestOrder: which of two items of a row begins first.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second Item
	}{
		{"the earlier one", Item{Start: 1, Ref: 9}, Item{Start: 2, Dur: 5}},
		{"the longer one", Item{Dur: 5, Ref: 9, Rank: 3}, Item{Dur: 4}},
		{"the slice before the instant", Item{Ref: 9, Rank: 3}, Item{Instant: true}},
		{"by rank", Item{Dur: 5, Ref: 9}, Item{Dur: 5, Rank: 1}},
		{"by number", Item{Dur: 5, Ref: 1}, Item{Dur: 5, Ref: 2}},
	} {
		if a, b := compareItems(c.first, c.second), compareItems(c.second, c.first); a >= 0 || b <= 0 {
			t.Errorf("%s: %d, turned %d", c.name, a, b)
		}
	}
}
