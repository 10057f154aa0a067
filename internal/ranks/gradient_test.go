package ranks

import (
	"math"
	"testing"
)

// TestClocksFarApart: two ranks whose times differ by days, or by all that 64 bits can hold, get offsets that make their collectives end
// together, as far as a float64 can tell. The times are those of a job in which one event lay ten days before all others.
func TestClocksFarApart(t *testing.T) {
	for _, apart := range []float64{0, 8.96e14, 4e18, 9.2e18} {
		o := &observations{first: []int32{0, 2, 4}, cases: []int32{0, 1}, node: []int32{0, 1, 0, 1}, mid: make([]float64, 2), x: make([]float64, 2), d: make([]float64, 2),
			end: []float64{apart + 5.140063e6, 5.012875e6, apart + 1.0626523e7, 1.0500425e7}, sigma: []float64{1504.1198630760782, 1503.6377625279301}, w: make([]float32, 4),
			lead: []int32{0, 1}, vague: make([]float64, 2), slope: usualDrift, firm: 1}
		o.center()
		o.solve(o.spanningTree(), []Member{{Summary: &Summary{}}, {Summary: &Summary{}}})
		for i := int32(0); i < 4; i += 2 {
			if d := math.Abs(o.global(i) - o.global(i+1)); !(d <= 1000+apart*0x1p-48) {
				t.Errorf("%g ns apart: collective %d ends %g ns apart", apart, i/2, d)
			}
		}
	}
}
