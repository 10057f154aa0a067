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
// runs of a side they are drawn; of one run the units. A side with a single unit borrows the noise of the
// other. It reports false where both have a single unit. The same values give the same interval.
func Interval(before, after []Units, weights []float64) (low, high float64, ok bool) {
	var sides [2][]drawn
	free, known := 0, false
	for i, side := range [2][]Units{before, after} {
		for _, u := range side {
			d := newDrawn(u)
			sides[i] = append(sides[i], d)
			known = known || d.free > 0
		}
		free += leastFree(sides[i])
	}
	if !known {
		return 0, 0, false
	}
	rng := rand.New(rand.NewPCG(45, 20))
	change := func(of func(d, other *drawn) float64) float64 {
		var sum [2]float64
		for k, w := range weights {
			sum[0] += w * of(&sides[0][k], &sides[1][k])
			sum[1] += w * of(&sides[1][k], &sides[0][k])
		}
		return sum[1]/max(sum[0], 1) - 1
	}
	point := change(func(d, _ *drawn) float64 { return d.typical })
	all := make([]float64, resamples)
	for i := range all {
		all[i] = change(func(d, other *drawn) float64 { return d.draw(rng, other) })
	}
	slices.Sort(all)
	// Few values vary less among themselves than what they were drawn from: Student's t says by how much.
	wider := Beyond(0.05, float64(max(free, 1))) / Beyond(0.05, 1000)
	return point + (Quantile(all, 0.025)-point)*wider, point + (Quantile(all, 0.975)-point)*wider, true
}

// drawn are the units of one side and kind, ready to be drawn from.
type drawn struct {
	runs    [][]int64 // ascending
	typical float64
	free    int       // degrees of freedom: 0 where nothing says how much it varies
	apart   []float64 // what was measured, as a share of what is typical
}

func newDrawn(u Units) drawn {
	d := drawn{typical: u.Typical()}
	for _, run := range u {
		if len(run) > 0 {
			run = slices.Clone(run)
			slices.Sort(run)
			d.runs = append(d.runs, run)
		}
	}
	of := [][]int64{}
	if len(d.runs) == 1 {
		of = d.runs
	} else {
		var medians []int64
		for _, run := range d.runs {
			medians = append(medians, Median(slices.Clone(run)))
		}
		of = append(of, medians)
	}
	for _, x := range of[0] {
		d.apart = append(d.apart, float64(x)/max(d.typical, 1))
	}
	d.free = max(len(d.apart)-1, 0)
	return d
}

// leastFree is the kind that is known least of those of which something is known.
func leastFree(list []drawn) int {
	least := 0
	for _, d := range list {
		if d.free > 0 && (least == 0 || d.free < least) {
			least = d.free
		}
	}
	return least
}

// draw is how long a unit typically takes in a drawn sample.
func (d *drawn) draw(rng *rand.Rand, other *drawn) float64 {
	switch n := len(d.runs); {
	case n == 0:
		return 0
	case d.free == 0 && other.free > 0:
		return d.typical * other.apart[rng.IntN(len(other.apart))]
	case n == 1:
		return drawMedian(rng, d.runs[0])
	default: // medians of runs differ by what units differ, too
		sum := 0.
		for range n {
			sum += d.apart[rng.IntN(n)] - 1
		}
		// The mean of n drawn runs varies less than that of n recorded ones, by this root.
		return d.typical * (1 + sum/float64(n)*math.Sqrt(float64(n)/float64(n-1)))
	}
}

// drawMedian is the median of a sample drawn from ascending values: where it stands among them is nearly normal.
func drawMedian(rng *rand.Rand, sorted []int64) float64 {
	if len(sorted) == 1 {
		return float64(sorted[0])
	}
	n := float64(len(sorted))
	at := 0.5 + rng.NormFloat64()/(2*math.Sqrt(n+2))
	return Quantile(sorted, min(max((at*(n+1)-1)/(n-1), 0), 1))
}
