package history

import (
	"math"
	"slices"

	"overlay/internal/stat"
)

// How series are searched.
const (
	least    = 7    // runs on each side of a change: fewer are left to Past
	shortest = 20   // runs of the shortest stretch that is searched by itself
	sure     = 2.5  // times its noise that a change is at least
	smallest = 0.01 // change that is named: less is within what one builds on in a day
)

// Change is where a series changes its level: from run At on it is Size times as much more, as a share, give or take Noise.
type Change struct {
	At    int     // the first run after it
	Size  float64 // -0.1: a tenth less
	Noise float64 // half the interval in which Size lies in 95 of 100 cases
	Tail  float64 // how probable it is that noise looks like it anywhere in the series
}

// Changes finds where a series of logarithms changes, in order. With noise alone it finds something with the probability alpha.
//
// Stretches of all lengths are searched where the sums of both sides differ most, so that a change is found which another takes back; the split
// is put where medians of both sides fit best, and counts when Student's test leaves no doubt, given how many splits were looked at. Values far
// out are drawn in. Runs near in time are alike, so that many of them say less than their number: the autocorrelation of what is left after
// the change, and its own error, take from the degrees of freedom.
func Changes(x []float64, alpha float64) []Change {
	spans, looks := stretches(len(x))
	var cuts []Change
	var search func(from, to int)
	search = func(from, to int) {
		best := Change{Tail: math.Inf(1)}
		for _, s := range spans {
			if s[0] = max(s[0], from); min(s[1], to)-s[0] < 2*least {
				continue
			}
			c := split(x[s[0]:min(s[1], to)])
			if c.At += s[0]; c.Tail < best.Tail {
				best = c
			}
		}
		if best.Tail*looks > alpha || math.Abs(math.Expm1(best.Size)) < smallest {
			return
		}
		best.Tail *= looks
		search(from, best.At)
		cuts = append(cuts, best)
		search(best.At, to)
	}
	search(0, len(x))
	// Levels are those between the neighbours of a change, now that they are known. What another one explained is none.
	for i := 0; i < len(cuts); i++ {
		from, to := 0, len(x)
		if i > 0 {
			from = cuts[i-1].At
		}
		if i+1 < len(cuts) {
			to = cuts[i+1].At
		}
		size, err, free := stat.Shift(x[from:cuts[i].At], x[cuts[i].At:to])
		cuts[i].Size = math.Expm1(size)
		if cuts[i].Noise = err * stat.Beyond(0.05, free); math.Abs(cuts[i].Size) < max(smallest, sure*cuts[i].Noise) {
			cuts, i = slices.Delete(cuts, i, i+1), -1
		}
	}
	return cuts
}

// stretches are parts of a series of n values that overlap by half, long and short; looks is how many splits there are that say something of their own.
func stretches(n int) (spans [][2]int, looks float64) {
	if n < 2*least {
		return nil, 0
	}
	for length := n; length >= min(n, shortest); length = length * 5 / 8 {
		for from := 0; ; from += max(length/2, 1) {
			at := min(from, n-length)
			spans, looks = append(spans, [2]int{at, at + length}), looks+4*math.Log(float64(length)) // neighbouring splits are nearly one

			if at == n-length {
				break
			}
		}
	}
	return spans, looks
}

// split finds the best place to cut a stretch in two. Size is of logarithms, Tail that of one look.
func split(x []float64) Change {
	drawn := slices.Clone(x)
	stat.DrawIn(drawn)
	sum := 0.
	for _, v := range drawn {
		sum += v
	}
	n := float64(len(x))
	mean, left, most, at := sum/n, 0., -1., least
	for k := 1; k <= len(x)-least; k++ {
		left += drawn[k-1] - mean
		if apart := math.Abs(left) / math.Sqrt(float64(k)*(n-float64(k))); k >= least && apart > most {
			most, at = apart, k
		}
	}
	at = refine(x, at)
	size, err, free := stat.Shift(x[:at], x[at:])
	c := Change{At: at, Size: size, Tail: 1}
	if err > 0 {
		c.Tail = stat.Tail(math.Abs(size)/err, free)
	} else if size != 0 {
		c.Tail = 0
	}
	return c
}

// near is how far around a cut the best place is looked for.
const near = 8

// refine moves a cut to where the values are most probable, given the levels of both sides: a run differs from its level as the one before it
// did, but for a part that is its own, of which a few lie far out (Student's distribution with three degrees of freedom).
func refine(x []float64, at int) int {
	before, after := stat.Middle(x[:at]), stat.Middle(x[at:])
	from, to := max(at-near, least), min(at+near, len(x)-least)
	away := func(t, cut int) float64 {
		if t < cut {
			return x[t] - before
		}
		return x[t] - after
	}
	var products, squares float64
	for t := 1; t < len(x); t++ {
		v, last := away(t, at), away(t-1, at)
		products, squares = products+v*last, squares+last*last
	}
	alike := min(max(products/max(squares, 1e-300), 0), 0.9)
	apart := make([]float64, 0, len(x))
	for t := 1; t < len(x); t++ {
		apart = append(apart, math.Abs(away(t, at)-alike*away(t-1, at)))
	}
	scale := max(1.4826*stat.Middle(apart), 1e-9)
	best, least := at, math.Inf(1)
	for cut := from; cut <= to; cut++ {
		cost := 0.
		for t := max(from-1, 1); t <= min(to, len(x)-1); t++ {
			e := (away(t, cut) - alike*away(t-1, cut)) / scale
			cost += math.Log1p(e * e / 3)
		}
		if cost < least {
			best, least = cut, cost
		}
	}
	return best
}
