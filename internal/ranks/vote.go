package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/stat"
)

// How votes are counted.
const (
	voteBin     = 20_000 // ns
	voteSamples = 400
	voteTries   = 12
	votePairs   = 6   // fewer pairs are no evidence, unless they are all
	voteFit     = 3.0 // units of noise by which the better part of the ends may differ
	voteGap     = 4.0 // by which any other way has to fit worse
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
		fit   float64 // residual of the better 70 %, in units of noise
	}
	var tries []try
	for _, bin := range x.topBins(false) {
		theta := bin*voteBin + voteBin/2
		var pairs []pair
		for range 2 { // the second time around what the first found
			pairs = x.walk(0, int32(len(a)), 0, int32(len(b)), theta)
			var ds []int64
			for _, p := range pairs {
				ds = append(ds, x.diff(p))
			}
			theta = stat.Median(ds)
		}
		if len(pairs) < max(min(votePairs, short), short/3) || 10*len(pairs) < 9*x.overlap(pairs) || slices.ContainsFunc(tries, func(t try) bool { return sameWay(t.pairs, pairs) }) {
			continue
		}
		residuals := make([]float64, len(pairs))
		for i, p := range pairs {
			residuals[i] = float64(abs(x.diff(p)-theta)) / x.noise(p)
		}
		slices.Sort(residuals)
		tries = append(tries, try{pairs, residuals[len(residuals)*7/10]})
	}
	if len(tries) == 0 {
		return nil, 0
	}
	slices.SortStableFunc(tries, func(p, q try) int { return cmp.Compare(p.fit, q.fit) })
	best := tries[0]
	if best.fit > voteFit || x.cut() && (2*best.fit > voteFit || len(best.pairs) < 2*votePairs) {
		return nil, 0
	}
	for _, t := range tries[1:] {
		if 2*len(t.pairs) >= len(best.pairs) && t.fit <= voteGap*max(best.fit, 0.3) {
			return nil, len(best.pairs)
		}
	}
	return best.pairs, 0
}

// cut reports whether steps were recorded: then only what lies in cut steps is voted on, which is short and looks like the
// same part of any other step.
func (x *aligner) cut() bool {
	numbered := func(items []item) bool {
		return slices.ContainsFunc(items, func(i item) bool { return i.steps != anyStep })
	}
	return numbered(x.a) && numbered(x.b)
}

// overlap is how many operations of the one list lie between the first pair and the last, where fewer do.
func (x *aligner) overlap(pairs []pair) int {
	if len(pairs) == 0 {
		return 0
	}
	first, last := pairs[0], pairs[len(pairs)-1]
	return int(min(last.a-first.a, last.b-first.b)) + 1
}

// topBins are the differences of ends that occur most often, in bins. Only operations of steps that both lists have
// count, when there are such.
func (x *aligner) topBins(steps bool) []int64 {
	bins := map[int64]int{}
	stride := (len(x.a) + voteSamples - 1) / voteSamples
	for i := 0; i < len(x.a); i += stride {
		for k := range x.b {
			if x.alike(pair{int32(i), int32(k)}) && (!steps || x.a[i].steps.number() >= 0 && x.a[i].steps.number() == x.b[k].steps.number()) {
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
