package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Units are how long units of work of one kind took, ns: a list for each run.
type Units [][]int64

// Typical is how long a unit takes: the median of a run, the mean of the runs; 0 of none.
func (u Units) Typical() float64 {
	sum, runs := 0., 0
	for _, run := range u {
		if len(run) > 0 {
			sum, runs = sum+float64(Median(slices.Clone(run))), runs+1
		}
	}
	return sum / max(float64(runs), 1)
}

// resamples is how many times Interval draws.
const resamples = 2000

// Interval is within which the change from before to after lies, as a share of before, by a bootstrap: in 95 of 100 cases, were
// the same recorded again. Both lists are by kind of unit; a kind counts as often as its weight says. Where there are several
// runs of a side runs are drawn, else units. Both sides are drawn from what either varies around what is typical of it: few units say too little
// of their own noise. It reports false where both have a single one. The same values give the same interval.
func Interval(before, after []Units, weights []float64) (low, high float64, ok bool) {
	kinds := make([]drawn, len(weights))
	free := 0 // of the kind that is known least of those of which something is known
	for k := range kinds {
		kinds[k] = newDrawn([2]Units{before[k], after[k]})
		if n := kinds[k].free; n > 0 && (free == 0 || n < free) {
			free = n
		}
	}
	if free == 0 {
		return 0, 0, false
	}
	change := func(of func(d *drawn, side int) float64) float64 {
		var sum [2]float64
		for k, w := range weights {
			for side := range sum {
				sum[side] += w * of(&kinds[k], side)
			}
		}
		return sum[1]/max(sum[0], 1) - 1
	}
	point := change(func(d *drawn, side int) float64 { return d.typical[side] })
	all, rng := make([]float64, resamples), rand.New(rand.NewPCG(45, 20))
	for i := range all {
		all[i] = change(func(d *drawn, side int) float64 { return d.draw(rng, side) })
	}
	slices.Sort(all)
	// Few values vary less among themselves than what they were drawn from: Student's t says by how much.
	wider := Beyond(0.05, float64(free)) / Beyond(0.05, 1000)
	return point + (Quantile(all, 0.025)-point)*wider, point + (Quantile(all, 0.975)-point)*wider, true
}

// drawn is one kind of units, ready to be drawn from.
type drawn struct {
	typical [2]float64
	n       [2]int    // units, or runs, of a side
	apart   []float64 // those of both sides as a share of what is typical, ascending
	free    int       // degrees of freedom: 0 where nothing says how much they vary
	runs    bool      // they are medians of runs
}

func newDrawn(sides [2]Units) (d drawn) {
	recorded := func(u Units) Units {
		return slices.DeleteFunc(slices.Clone(u), func(run []int64) bool { return len(run) == 0 })
	}
	d.runs = max(len(recorded(sides[0])), len(recorded(sides[1]))) > 1
	for side, u := range sides {
		d.typical[side] = u.Typical()
		values := slices.Concat(u...)
		if d.runs {
			values = values[:0]
			for _, run := range recorded(u) {
				values = append(values, Median(slices.Clone(run)))
			}
		}
		if d.n[side] = len(values); len(values) < 2 {
			continue
		}
		d.free += len(values) - 1
		for _, x := range values {
			d.apart = append(d.apart, float64(x)/max(d.typical[side], 1))
		}
	}
	slices.Sort(d.apart)
	return d
}

// draw is how long a unit of a side typically takes in a drawn sample.
func (d *drawn) draw(rng *rand.Rand, side int) float64 {
	n := float64(d.n[side])
	switch {
	case n == 0 || d.free == 0:
		return d.typical[side]
	case d.runs:
		sum := 0.
		for range d.n[side] {
			sum += d.apart[rng.IntN(len(d.apart))] - 1
		}
		// The mean of drawn runs varies less than that of recorded ones, by this root.
		return d.typical[side] * (1 + sum/n*math.Sqrt(float64(len(d.apart))/float64(d.free)))
	}
	at := 0.5 + rng.NormFloat64()/(2*math.Sqrt(n+2)) // where the median of n values stands among all is nearly normal
	return d.typical[side] * Quantile(d.apart, min(max(at, 0), 1))
}
