package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMedian: of two in the middle the mean, whatever the order, the signs and the number of the values.
func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []int64
		want   int64
	}{
		{nil, 0}, {[]int64{7}, 7}, {[]int64{10, 2}, 6}, {[]int64{3, 1, 2}, 2}, {[]int64{4, 1, 3, 2}, 2}, {[]int64{-1, -4}, -3}, {[]int64{-3, 4}, 0},
		{[]int64{1 << 62, 1<<62 + 2}, 1<<62 + 1},
	} {
		if got := Median(slices.Clone(c.values)); got != c.want {
			t.Errorf("median of %d: %d, want %d", c.values, got, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 300; n += 7 {
		v := make([]int64, n)
		for i := range v {
			v[i] = rng.Int64N(1 << (1 + rng.IntN(40)))
		}
		sorted := slices.Sorted(slices.Values(v))
		want := sorted[n/2]
		if n%2 == 0 {
			want = (sorted[n/2-1] + sorted[n/2]) / 2
		}
		if got := Median(v); got != want {
			t.Errorf("%d values: %d, want %d", n, got, want)
		}
	}
}

// TestQuantile: on the line between two values, and the median at a half.
func TestQuantile(t *testing.T) {
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.25, 2.5}, {0.5, 4}, {0.75, 5.5}, {0.9, 6.4}, {1, 7}} {
		if got := Quantile([]int64{1, 3, 5, 7}, c.q); got != c.want {
			t.Errorf("quantile %v: %v, want %v", c.q, got, c.want)
		}
	}
	if Quantile([]float64{}, 0.5) != 0 || Quantile([]float64{2}, 0.9) != 2 {
		t.Error("of none or one")
	}
}

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

// TestMedianBut compares with the median of what is left when one is taken out.
func TestMedianBut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.Int64Range(0, 9), 2, 12).Draw(t, "list")
		i := rapid.IntRange(0, len(list)-1).Draw(t, "i")
		want := Median(slices.Delete(slices.Clone(list), i, i+1))
		if got := MedianBut(slices.Sorted(slices.Values(list)), list[i]); got != want {
			t.Errorf("%d, want %d", got, want)
		}
	})
}
