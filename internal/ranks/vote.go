package ranks

import (
	"cmp"
	"slices"
)

// How votes are counted.
const (
	voteBin     = 20_000 // ns
	voteSamples = 400
	voteTries   = 12
	voteFit     = 3.0 // units of noise by which ends may differ in the middle
	voteGap     = 3.0 // by which any other way has to fit worse
)

// alignVotes finds the difference of ends at which most operations pair, for ranks of which nothing else says how they lie to each
// other. The second result counts operations that fit about as well in another way: then nothing is paired.
func alignVotes(a, b []item) ([]pair, int) {
	x := &aligner{a: a, b: b}
	short := min(len(a), len(b))
	if short < 2 {
		return nil, 0
	}
	type try struct {
		pairs []pair
		fit   float64 // median residual in units of noise
	}
	var tries []try
	for _, bin := range x.topBins() {
		pairs := x.walk(0, int32(len(a)), 0, int32(len(b)), bin*voteBin+voteBin/2, 0.3)
		if len(pairs) < max(2, short/3) || slices.ContainsFunc(tries, func(t try) bool { return sameWay(t.pairs, pairs) }) {
			continue
		}
		var residuals []float64
		for i, p := range pairs {
			residuals = append(residuals, float64(abs(x.diff(p)-x.near(pairs, i)))/x.noise(p))
		}
		slices.Sort(residuals)
		tries = append(tries, try{pairs, residuals[len(residuals)/2]})
	}
	if len(tries) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(tries, func(p, q try) int { return cmp.Compare(p.fit, q.fit) })
	best := tries[0]
	if best.fit > voteFit {
		return nil, 0
	}
	for _, t := range tries[1:] {
		if 2*len(t.pairs) >= len(best.pairs) && t.fit <= voteGap*max(best.fit, 0.3) {
			return nil, len(best.pairs)
		}
	}
	return best.pairs, 0
}

// topBins are the differences of ends that occur most often, in bins.
func (x *aligner) topBins() []int64 {
	bins := map[int64]int{}
	stride := (len(x.a) + voteSamples - 1) / voteSamples
	for i := 0; i < len(x.a); i += stride {
		for k := range x.b {
			if x.alike(pair{int32(i), int32(k)}) {
				bins[floorDiv(x.b[k].end-x.a[i].end, voteBin)]++
			}
		}
	}
	order := make([]int64, 0, len(bins))
	for bin := range bins {
		order = append(order, bin)
	}
	slices.SortFunc(order, func(p, q int64) int { return cmp.Or(cmp.Compare(bins[q], bins[p]), cmp.Compare(p, q)) })
	return order[:min(voteTries, len(order))]
}

// sameWay reports whether two alignments have a pair in common: then they are one, found from two bins.
func sameWay(p, q []pair) bool {
	for i, k := 0, 0; i < len(p) && k < len(q); {
		switch {
		case p[i] == q[k]:
			return true
		case p[i].a <= q[k].a:
			i++
		default:
			k++
		}
	}
	return false
}
