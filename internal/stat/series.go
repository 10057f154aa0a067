package stat

import (
	"math"
	"slices"
)

// Shift says by how much the levels of two stretches differ, and how far that may be off: a standard error, with its degrees of freedom.
func Shift(a, b []float64) (size, err, free float64) {
	left := slices.Concat(a, b)
	sides := [2][]float64{left[:len(a)], left[len(a):]}
	var levels [2]float64
	for i, side := range sides {
		levels[i] = Middle(side)
		for k := range side {
			side[k] -= levels[i]
		}
	}
	DrawIn(left)
	for i, side := range sides {
		mean := 0.
		for _, v := range side {
			mean += v / float64(len(side))
		}
		for k := range side {
			side[k] -= mean
		}
		levels[i] += mean
	}
	spread, share, free := Noise(left, 2)
	return levels[1] - levels[0], spread * math.Sqrt(share*(1/float64(len(a))+1/float64(len(b)))), free
}

// kin is how many runs in a row at least say no more than one: what wanders slowly shows in few runs only once it has.
const kin = 4

// Noise is the standard deviation of what is left around so many levels, how many values say as much of a level as one that does not depend
// on those before it would, and the degrees of freedom of the deviation. Values are alike as far as their autocorrelation is above zero.
func Noise(left []float64, levels int) (spread, share, free float64) {
	n, fitted := float64(len(left)), float64(levels)
	squares := 0.
	for _, v := range left {
		squares += v * v
	}
	if squares == 0 {
		return 0, 1, n
	}
	alike := 1.
	share = 1
	for lag := 1; lag <= len(left)/3; lag++ {
		products := 0.
		for i := lag; i < len(left); i++ {
			products += left[i] * left[i-lag]
		}
		// Levels that were fitted make neighbours look less alike than they are; and what a few runs say of it may be off, here by half of its standard error.
		r := min(products/squares+fitted/n+0.5/math.Sqrt(n), 0.95)
		if r <= 0.5/math.Sqrt(n) {
			break
		}
		share, alike = share+2*r, alike+2*r*r
	}
	return math.Sqrt(squares / max(n-fitted, 1)), max(share, kin), max((n-fitted)/alike, 1)
}

// clip is how many times their scale values may lie apart: noise has heavy tails.
const clip = 3

// DrawIn draws values far from the middle of all in.
func DrawIn(x []float64) {
	m := Middle(x)
	apart := make([]float64, len(x))
	for i, v := range x {
		apart[i] = math.Abs(v - m)
	}
	most := clip * 1.4826 * Middle(apart)
	if most == 0 { // more than half are the same
		return
	}
	for i, v := range x {
		x[i] = min(max(v, m-most), m+most)
	}
}

// Middle is the median of values.
func Middle(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return Quantile(x, 0.5)
}
