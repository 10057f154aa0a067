package stat

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"
)

// TestInterval: of samples whose true change is known, the interval holds it in about 95 of 100.
func TestInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	sample := func(runs, units int, mean, far, between float64) (u Units) {
		for range runs {
			run := make([]int64, units)
			level := mean * (1 + between*rng.NormFloat64())
			for i := range run {
				run[i] = int64(level * (1 + far*rng.NormFloat64()))
			}
			u = append(u, run)
		}
		return u
	}
	for _, c := range []struct {
		name          string
		runs, units   int
		before        int // units of the runs before; 0: as many
		far, between  float64
		least, widest float64 // share that hold, mean width
	}{
		{"one run of 30 steps", 1, 30, 0, 0.02, 0, 0.92, 0.03},
		{"one run of 4 steps", 1, 4, 0, 0.02, 0, 0.92, 0.10},
		{"one run of 3 steps against 15", 1, 15, 3, 0.02, 0, 0.92, 0.07},
		{"five runs", 5, 6, 0, 0.02, 0.01, 0.92, 0.05},
		{"three runs", 3, 6, 0, 0.02, 0.01, 0.90, 0.09}, // three medians are little to draw from,
	} {
		held, wide := 0, 0.
		const trials = 200
		for range trials {
			low, high, ok := Interval([]Units{sample(c.runs, cmp.Or(c.before, c.units), 1e6, c.far, c.between)}, []Units{sample(c.runs, c.units, 1.03e6, c.far, c.between)}, []float64{1})
			if !ok || low > high {
				t.Fatalf("%s: %v %v %v", c.name, low, high, ok)
			}
			if low <= 0.03 && high >= 0.03 {
				held++
			}
			wide += (high - low) / trials
		}
		if share := float64(held) / trials; share < c.least || share > 0.999 || wide > c.widest {
			t.Errorf("%s: %.3f of the intervals hold the change, they are %.4f wide", c.name, share, wide)
		}
	}
}

// TestIntervalOfLittle: a single unit borrows the noise of the other side; two of them have none.
func TestIntervalOfLittle(t *testing.T) {
	one, four := []Units{{{100}}}, []Units{{{90, 110, 95, 105}}}
	if _, _, ok := Interval(one, one, []float64{1}); ok {
		t.Error("an interval of two numbers")
	}
	for _, pair := range [][2][]Units{{one, four}, {four, one}} {
		low, high, ok := Interval(pair[0], pair[1], []float64{1})
		if !ok || low > -0.1 || high < 0.1 || high-low > 1.5 {
			t.Errorf("%v against %v: %v to %v, %v", pair[0], pair[1], low, high, ok)
		}
		if again, _, _ := Interval(pair[0], pair[1], []float64{1}); again != low {
			t.Error("not the same again")
		}
	}
	// A kind counts as its weight says.
	a, b := []Units{{{100, 100, 100}}, {{1000, 1000, 1000}}}, []Units{{{200, 200, 200}}, {{1000, 1000, 1000}}}
	low, high, _ := Interval(a, b, []float64{10, 1})
	if math.Abs(low-0.5) > 1e-9 || math.Abs(high-0.5) > 1e-9 {
		t.Errorf("%v to %v, want a half", low, high)
	}
}
