package ranks

import (
	"math"
	"math/rand/v2"
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

// TestExpect: clocks that are seen to keep together are expected to, those that are seen to drift by more than clocks do as a rule are expected to do that, and where
// ends tell nothing the rule holds.
func TestExpect(t *testing.T) {
	const n, ms = 8, 1e6
	for name, c := range map[string]struct{ drift, scatter, low, high float64 }{
		"steady":  {0, 1000, 0, 12e-6},
		"drift":   {60e-6, 1000, 40e-6, 80e-6},
		"unknown": {0, 1e6, 15e-6, 20e-6},
	} {
		rng := rand.New(rand.NewPCG(1, 9))
		o := &observations{first: []int32{0}, mid: make([]float64, n), x: make([]float64, n), d: make([]float64, n), vague: make([]float64, n), slope: usualDrift, firm: 1}
		members := make([]Member, n)
		for m := range int32(n) {
			o.lead = append(o.lead, m)
			members[m].Summary = &Summary{}
		}
		for i := range int32(200) {
			for m := range int32(n) {
				at := float64(i) * ms
				o.node = append(o.node, m)
				o.end = append(o.end, at+c.drift*at*float64(m%2*2-1)+c.scatter*rng.NormFloat64())
			}
			o.first, o.cases, o.sigma = append(o.first, int32(len(o.node))), append(o.cases, i), append(o.sigma, 1500)
		}
		o.w = make([]float32, len(o.node))
		components := o.spanningTree()
		o.center()
		o.solve(components, members)
		if o.slope < c.low || o.slope > c.high {
			t.Errorf("%s: clocks are expected to drift by %.1f ppm, want %.1f to %.1f", name, o.slope*1e6, c.low*1e6, c.high*1e6)
		}
	}
}
