package kineto

import (
	"testing"

	"pgregory.net/rapid"
)

// Packed spans are those that were packed: close together, far apart, with args far behind, and in any number.
func TestSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := rapid.SampledFrom([]int64{2, 200, 1 << 14, 1 << 20, 1 << 33})
		behind := rapid.SampledFrom([]int64{0, 1, 100, 1<<nearArgs - 1, 1 << nearArgs, farArgs, farArgs + 1})
		usual, rare := rapid.Int64Range(1, 1<<nearOff/spanGroup).Draw(t, "usual step"), rapid.IntRange(1, 300).Draw(t, "unusual one in")
		var list []Span
		off := rapid.Int64Range(0, 1<<35).Draw(t, "start")
		for range rapid.IntRange(0, 5*spanGroup).Draw(t, "spans") {
			args := usual % 512
			if rapid.IntRange(1, rare).Draw(t, "one") == rare {
				off, args = off+step.Draw(t, "step"), behind.Draw(t, "args")
			}
			list = append(list, SpanAt(off, args))
			off += usual
		}
		x := NewSpans(list, nil)
		if x.Len() != len(list) {
			t.Fatalf("%d of %d spans", x.Len(), len(list))
		}
		for i, want := range list {
			if got := x.At(i); got != want {
				t.Fatalf("span %d of %d: %d+%d, want %d+%d", i, len(list), got.Off(), got&farArgs, want.Off(), want&farArgs)
			}
		}
	})
}
