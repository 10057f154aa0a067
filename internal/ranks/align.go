package ranks

import "slices"

// Tolerances of differences of ends, ns. Members of a collective end within microseconds of each other, or within a
// small share of how long the data takes; neighbouring collectives end further apart.
const (
	stepTolerance  = 100_000
	otherTolerance = 60_000
)

// pair is two items of two lists.
type pair struct{ a, b int32 }

// alignment is which items of two lists are one collective.
type alignment struct {
	pairs     []pair // both sides ascending
	by        MatchBy
	ambiguous int // items that fit in two ways
}

// align finds which operations of two ranks are one collective. First come whole steps that both have with the same
// operations: they are paired in order, and the differences of their ends confirm it. What is left between such steps
// (steps that are cut by a window, lost records) is shifted, then walked along, until ends agree with those around.
// Without any such step the differences of ends vote.
func align(a, b []item) alignment {
	x := &aligner{a: a, b: b}
	x.wholeSteps()
	if len(x.pairs) == 0 {
		return x.vote()
	}
	x.between()
	return alignment{x.pairs, ByOrder, 0}
}

type aligner struct {
	a, b  []item
	pairs []pair
	mad   int64 // of differences of ends within matched steps
}

func (x *aligner) diff(p pair) int64 { return x.b[p.b].end - x.a[p.a].end }

func (x *aligner) shorter(p pair) int64 { return min(x.a[p.a].dur, x.b[p.b].dur) }

// stepRuns are the borders of runs of items of one step. Steps that come twice are not among them.
func stepRuns(items []item) map[int32][2]int32 {
	runs := map[int32][2]int32{}
	for i := 0; i < len(items); {
		k := i
		for k < len(items) && items[k].step == items[i].step {
			k++
		}
		if _, twice := runs[items[i].step]; twice || items[i].step < 0 {
			runs[items[i].step] = [2]int32{-1, -1}
		} else {
			runs[items[i].step] = [2]int32{int32(i), int32(k)}
		}
		i = k
	}
	return runs
}

// wholeSteps pairs the steps that both lists have alike.
func (x *aligner) wholeSteps() {
	inB := stepRuns(x.b)
	var residuals, ds []int64
	last := int32(-1)
	inA := stepRuns(x.a)
	for i := 0; i < len(x.a); i++ {
		step := x.a[i].step
		if i > 0 && x.a[i-1].step == step {
			continue
		}
		ra := inA[step]
		rb, ok := inB[step]
		if !ok || ra[0] < 0 || rb[0] <= last || rb[1]-rb[0] != ra[1]-ra[0] {
			continue
		}
		ds = ds[:0]
		for k := range ra[1] - ra[0] {
			p := pair{ra[0] + k, rb[0] + k}
			if !alike(x.a[p.a].token, x.b[p.b].token) {
				break
			}
			ds = append(ds, x.diff(p))
		}
		if len(ds) < int(ra[1]-ra[0]) {
			continue
		}
		mid := median(slices.Clone(ds))
		for k, d := range ds {
			p := pair{ra[0] + int32(k), rb[0] + int32(k)}
			if abs(d-mid) > max(stepTolerance, x.shorter(p)*15/100) {
				ok = false
				break
			}
		}
		if !ok {
			continue
		}
		for k, d := range ds {
			x.pairs = append(x.pairs, pair{ra[0] + int32(k), rb[0] + int32(k)})
			residuals = append(residuals, abs(d-mid))
		}
		last = rb[1] - 1
	}
	x.mad = median(residuals)
}

// near is the difference of ends around a place between matched pairs: of the 16 nearest.
func (x *aligner) near(matched []pair, at int) int64 {
	lo := max(at-8, 0)
	hi := min(lo+16, len(matched))
	lo = max(hi-16, 0)
	var ds []int64
	for _, p := range matched[lo:hi] {
		ds = append(ds, x.diff(p))
	}
	return median(ds)
}

// between pairs what is left before, between and behind the matched steps.
func (x *aligner) between() {
	steps := x.pairs
	var out []pair
	a0, b0 := int32(0), int32(0)
	for i := 0; i <= len(steps); i++ {
		a1, b1 := int32(len(x.a)), int32(len(x.b))
		if i < len(steps) {
			a1, b1 = steps[i].a, steps[i].b
		}
		if a1 > a0 && b1 > b0 {
			theta := x.near(steps, i)
			if more := x.shift(a0, a1, b0, b1, theta); more != nil {
				out = append(out, more...)
			} else {
				more, _ := x.walk(a0, a1, b0, b1, theta, 6*x.mad, 0)
				out = append(out, more...)
			}
		}
		if i < len(steps) {
			out = append(out, steps[i])
			a0, b0 = a1+1, b1+1
		}
	}
	x.pairs = out
}

// shift finds the shift of two runs against each other at which kinds and steps agree and ends fit best. All but one of
// the shorter run have to be paired.
func (x *aligner) shift(a0, a1, b0, b1 int32, theta int64) []pair {
	la, lb := a1-a0, b1-b0
	least := max(min(la, lb)-1, 1)
	var best []pair
	bestFit := int64(1<<63 - 1)
	var residuals, durs []int64
	for k := -(lb - least); k <= la-least; k++ { // item i of a belongs to item i-k of b
		lo, hi := max(k, 0), min(la, lb+k)
		if hi-lo < least {
			continue
		}
		residuals, durs = residuals[:0], durs[:0]
		for i := lo; i < hi; i++ {
			p := pair{a0 + i, b0 + i - k}
			u, v := &x.a[p.a], &x.b[p.b]
			if !alike(u.token, v.token) || u.step >= 0 && v.step >= 0 && u.step != v.step {
				break
			}
			residuals = append(residuals, abs(x.diff(p)-theta))
			durs = append(durs, x.shorter(p))
		}
		if len(residuals) < int(hi-lo) {
			continue
		}
		fit := median(residuals)
		if fit < bestFit && fit <= max(otherTolerance, 6*x.mad, median(durs)/10) {
			bestFit, best = fit, best[:0]
			for i := lo; i < hi; i++ {
				best = append(best, pair{a0 + i, b0 + i - k})
			}
		}
	}
	return best
}

// walk goes along two runs and pairs what ends together, as far as it is alike. follow is the share of each residual by
// which theta moves along; the second result is the median residual.
func (x *aligner) walk(a0, a1, b0, b1 int32, theta, mad int64, follow float64) ([]pair, int64) {
	var out []pair
	var residuals []int64
	drift := float64(theta)
	for i, k := a0, b0; i < a1 && k < b1; {
		p := pair{i, k}
		r := x.diff(p) - int64(drift)
		switch {
		case abs(r) <= max(otherTolerance, mad, x.shorter(p)/20) && alike(x.a[i].token, x.b[k].token):
			out = append(out, p)
			residuals = append(residuals, abs(r))
			drift += follow * float64(r)
			i++
			k++
		case r > 0: // b ends later: a is behind
			i++
		default:
			k++
		}
	}
	return out, median(residuals)
}

// How votes are counted.
const (
	voteBin     = 20_000 // ns
	voteSamples = 400
	voteTries   = 6
)

// vote finds the difference of ends at which most operations pair, without any step to go by.
func (x *aligner) vote() alignment {
	short := min(len(x.a), len(x.b))
	if short < 2 {
		return alignment{}
	}
	bins := map[int64]int{}
	stride := (len(x.a) + voteSamples - 1) / voteSamples
	for i := 0; i < len(x.a); i += stride {
		for k := range x.b {
			if alike(x.a[i].token, x.b[k].token) {
				bins[floorDiv(x.b[k].end-x.a[i].end, voteBin)]++
			}
		}
	}
	order := make([]int64, 0, len(bins))
	for bin := range bins {
		order = append(order, bin)
	}
	slices.SortFunc(order, func(p, q int64) int {
		if bins[p] != bins[q] {
			return bins[q] - bins[p]
		}
		return int(min(max(p-q, -1), 1))
	})
	type try struct {
		pairs []pair
		fit   int64
	}
	var tries []try
	for _, bin := range order[:min(voteTries, len(order))] {
		pairs, fit := x.walk(0, int32(len(x.a)), 0, int32(len(x.b)), bin*voteBin+voteBin/2, 0, 0.3)
		if len(pairs) >= max(2, short/2) && !slices.ContainsFunc(tries, func(t try) bool { return sameWay(t.pairs, pairs) }) {
			tries = append(tries, try{pairs, fit})
		}
	}
	if len(tries) == 0 {
		return alignment{}
	}
	slices.SortStableFunc(tries, func(p, q try) int {
		if len(p.pairs) != len(q.pairs) {
			return len(q.pairs) - len(p.pairs)
		}
		return int(min(max(p.fit-q.fit, -1), 1))
	})
	best := tries[0]
	for _, t := range tries[1:] {
		if len(t.pairs)*10 >= len(best.pairs)*9 && t.fit <= 3*best.fit {
			return alignment{ambiguous: len(best.pairs)}
		}
	}
	return alignment{best.pairs, ByTimes, 0}
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
