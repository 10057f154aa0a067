package cdg

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestNth compares ranks with those of the sorted samples, for few and many, near and far, equal and extreme ones.
func TestNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]int64{0, 1, 3, 300, 70_000, 1 << 40, math.MaxInt64}).Draw(t, "most")
		least := rapid.SampledFrom([]int64{0, -most, -most / 3, math.MinInt64}).Draw(t, "least")
		samples := rapid.SliceOfN(rapid.Int64Range(least, most), 1, 2000).Draw(t, "samples")
		sorted := slices.Sorted(slices.Values(samples))
		for range 4 { // each asks of the order that the one before left
			k := rapid.IntRange(0, len(samples)-1).Draw(t, "k")
			if got := Nth(samples, k); got != sorted[k] {
				t.Fatalf("rank %d of %d is %d, want %d", k, len(samples), got, sorted[k])
			}
		}
		if !slices.Equal(slices.Sorted(slices.Values(samples)), sorted) {
			t.Fatal("samples were lost")
		}
	})
}
