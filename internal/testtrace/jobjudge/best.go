package jobjudge

import (
	"math"

	"overlay/internal/trace"
)

// drawnDrift is how much clocks of made jobs drift as a rule: they are drawn from within 60 ppm of none.
const drawnDrift = 35e-6

// best is by how much the best of all estimates is off, ns: least squares over the ends of what is truly one collective, weighted by
// how much these truly scatter, and where clocks jump as if that were known. What the ends do not hold no other estimate can find. It
// does not use that the clocks of a host are nearly one, as the result is not to depend on how a clock is set.
func (t *truth) best() int64 {
	ref := t.main()
	place := map[int32]int{}
	var list []int32
	for m := range t.job.Members {
		if x := &t.job.Members[m]; x.Clock.Component == t.job.Members[ref].Clock.Component {
			place[int32(x.Rank)] = len(list)
			list = append(list, int32(x.Rank))
		}
	}
	// Unknown are of each rank how far off its clock is in the middle, and at the ends because of its drift. As a true clock shows true
	// times, they are 0 in truth, and what the ends make of them is the error.
	window := t.sim.Ranks[list[0]].Window
	mid, half := float64(window[0]+window[1])/2, float64(window[1]-window[0])/2
	a, b := make([][]float64, 2*len(list)), make([]float64, 2*len(list))
	for i := range a {
		a[i] = make([]float64, len(b))
		a[i][i] = 1e-14 // one clock is the measure of the others
		if i%2 == 1 {
			a[i][i] = 1 / (drawnDrift * half * drawnDrift * half)
		}
	}
	var of []int
	var ends []float64
	for i := range t.sim.Instances {
		in := &t.sim.Instances[i]
		of, ends = of[:0], ends[:0]
		sum := 0.0
		for _, m := range in.Members {
			if k, ok := place[m.Rank]; ok && m.Event != trace.NoEvent && in.Coll != "broadcast" {
				of, ends = append(of, k), append(ends, float64(m.End))
				sum += float64(m.End)
			}
		}
		n := float64(len(of))
		scatter := t.sim.EndNoise(i)
		for p, e := range ends {
			for q, f := range ends {
				w := -1 / n / (scatter * scatter)
				if p == q {
					w += 1 / (scatter * scatter)
				}
				at, of1, of2 := (e-mid)/half, 2*of[p], 2*of[q]
				at2 := (f - mid) / half
				a[of1][of2] += w
				a[of1][of2+1] += w * at2
				a[of1+1][of2] += w * at
				a[of1+1][of2+1] += w * at * at2
			}
			d := (e - sum/n) / (scatter * scatter)
			b[2*of[p]] += d
			b[2*of[p]+1] += d * (e - mid) / half
		}
	}
	solve(a, b)
	worst := 0.0
	r := 2 * place[int32(t.job.Members[ref].Rank)]
	for k, rank := range list {
		for _, at := range t.sim.Ranks[rank].Window {
			x := (float64(at) - mid) / half
			worst = math.Max(worst, math.Abs(b[2*k]+b[2*k+1]*x-b[r]-b[r+1]*x))
		}
	}
	return int64(worst)
}

// solve turns b into the x of a·x = b. a is symmetric and positive definite, and is used up.
func solve(a [][]float64, b []float64) {
	for i := range a {
		for k := i + 1; k < len(a); k++ {
			if f := a[k][i] / a[i][i]; f != 0 {
				for c := i; c < len(a); c++ {
					a[k][c] -= f * a[i][c]
				}
				b[k] -= f * b[i]
			}
		}
	}
	for i := len(a) - 1; i >= 0; i-- {
		for c := i + 1; c < len(a); c++ {
			b[i] -= a[i][c] * b[c]
		}
		b[i] /= a[i][i]
	}
}
