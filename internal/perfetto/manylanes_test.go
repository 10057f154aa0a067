package perfetto

import (
	"math/rand/v2"
	"testing"
)

// TestManyLanes holds the search for a lane against trying one lane after the other.
func TestManyLanes(t *testing.T) {
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
		of := map[int32]int{}
		for l, list := range lanes {
			for _, it := range list {
				of[it.Ref] = l
			}
		}
		var stacks []stack
		wantDeep := 0
		for _, it := range items { // sorted by now
			l, tooDeep := 0, false
			for ; l < len(stacks); l++ {
				ok, d := stacks[l].fits(&it)
				if ok {
					break
				}
				tooDeep = tooDeep || d
			}
			if l == len(stacks) {
				stacks = append(stacks, stack{})
			}
			stacks[l].push(&it)
			if tooDeep {
				wantDeep++
			}
			if of[it.Ref] != l {
				t.Fatalf("seed %d: item %d [%d, %d] is in lane %d, want %d", seed, it.Ref, it.Start, it.Start+it.Dur, of[it.Ref], l)
			}
		}
		if len(lanes) != len(stacks) || deep != wantDeep {
			t.Fatalf("seed %d: %d lanes, %d too deep, want %d and %d", seed, len(lanes), deep, len(stacks), wantDeep)
		}
		most, moved = max(most, len(lanes)), moved+deep
	}
	if most <= 4*fewLanes || moved == 0 {
		t.Errorf("at most %d lanes, %d slices moved for their depth: too few to show anything", most, moved)
	}
}
