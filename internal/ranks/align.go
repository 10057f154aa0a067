package ranks

import (
	"cmp"
	"maps"
	"slices"

	"overlay/internal/stat"
)

// pair is two items of two lists.
type pair struct{ a, b int32 }

// aligner finds which operations of two ranks are one collective.
//
// Both ranks make the collectives of a group in one order, but their windows differ and records get lost. Ends of one
// collective lie within microseconds of each other, or within a small share of how long its data takes, while its starts may be
// milliseconds apart. So the difference of ends is about the same for all pairs, whatever the clocks show, and tells
// an alignment that is off by one.
type aligner struct {
	a, b  []item
	pairs []pair  // both sides ascending
	mad   int64   // by which clocks may be off
	scale float64 // by which ends differ more than expected
}

func (x *aligner) diff(p pair) int64 { return x.b[p.b].end - x.a[p.a].end }

func (x *aligner) shorter(p pair) int64 { return int64(min(x.a[p.a].dur, x.b[p.b].dur)) }

// alike reports whether two items may be one collective by what they do and by their steps.
func (x *aligner) alike(p pair) bool {
	u, v := &x.a[p.a], &x.b[p.b]
	return alike(u.token, v.token) && u.steps.meet(v.steps)
}

// noise is by how much ends of a pair differ as a rule. The root of a broadcast may leave long before the others.
func (x *aligner) noise(p pair) float64 {
	u, v := &x.a[p.a], &x.b[p.b]
	c := Coll(max(u.token>>56, v.token>>56))
	share := c.ends()
	if x.loose(p) {
		share = looseEnds
	}
	n := max(x.scale, 1)*(endNoise+share*float64(min(u.dur, v.dur))) + float64(x.mad)
	if c != Other && !c.meets() {
		n += leavesEarly + float64(max(u.dur, v.dur))
	}
	return n
}

// leavesEarly is by how much ends of a collective that nobody has to wait for may differ, beside how long it takes, ns.
const leavesEarly = 100_000

// alignSteps pairs the steps that both ranks have with the same operations, then what is left between them: steps that
// are cut by a window, and those with lost records. Where too few steps are whole, the difference of ends that fits
// most operations of common steps is looked for. Without a step that both have, nothing is paired.
func alignSteps(a, b []item) []pair {
	x := &aligner{a: a, b: b}
	if !x.wholeSteps() {
		x.lossySteps()
	}
	if len(x.pairs) > 0 {
		x.between()
	}
	return x.pairs
}

// candidate is a step that both lists have with equal numbers of operations of equal kinds.
type candidate struct {
	a0, a1, b0 int32
	theta      int64 // difference of ends
	even       bool  // all operations end where that says
	loose      int64 // by which it may be off: ends of collectives of threads differ by a share of how long these take
}

// candidates lists such steps in their order.
func (x *aligner) candidates(inA, inB map[int32][2]int32) []candidate {
	var out []candidate
	last := int32(-1)
	for i := range x.a {
		step := x.a[i].steps.number()
		if i > 0 && x.a[i-1].steps.number() == step {
			continue
		}
		ra := inA[step]
		rb, ok := inB[step]
		if !ok || ra[0] < 0 || rb[0] <= last || rb[1]-rb[0] != ra[1]-ra[0] {
			continue
		}
		c := candidate{a0: ra[0], a1: ra[1], b0: rb[0]}
		ok = true
		for k := range c.a1 - c.a0 {
			p := pair{c.a0 + k, c.b0 + k}
			if ok = ok && alike(x.a[p.a].token, x.b[p.b].token); x.loose(p) {
				c.loose = max(c.loose, int64(looseEnds*float64(x.shorter(p))))
			}
		}
		if ok {
			c.theta, c.even = x.levelOf(&c)
			out = append(out, c)
			last = rb[1] - 1
		}
	}
	return out
}

// stepRuns are the borders of runs of items of one step. Steps that come twice are not among them.
func stepRuns(items []item) map[int32][2]int32 {
	runs := map[int32][2]int32{}
	for i := 0; i < len(items); {
		k := i
		step := items[i].steps.number()
		for k < len(items) && items[k].steps.number() == step {
			k++
		}
		if _, twice := runs[step]; twice || step < 0 {
			runs[step] = [2]int32{-1, -1}
		} else {
			runs[step] = [2]int32{int32(i), int32(k)}
		}
		i = k
	}
	return runs
}

// Shares of noise: how far from the others an operation may end before order alone is not believed, and how far the
// levels of neighbouring steps may lie apart.
const (
	suspicious = 8.0
	sameLevel  = 20_000 // ns
	manyItems  = 4      // that agree about a difference of ends, alone
)

// wholeSteps pairs the candidates of which the differences of ends agree with each other and with those of a step
// beside them. It reports whether these are most of what the ranks have in common.
func (x *aligner) wholeSteps() bool {
	inA, inB := stepRuns(x.a), stepRuns(x.b)
	common := int32(0)
	for step, ra := range inA {
		if rb, ok := inB[step]; ok && ra[0] >= 0 && rb[0] >= 0 {
			common += min(ra[1]-ra[0], rb[1]-rb[0])
		}
	}
	steps := x.candidates(inA, inB)
	if x.scale = x.measure(steps); x.scale > 1 {
		for i := range steps {
			steps[i].theta, steps[i].even = x.levelOf(&steps[i])
		}
	}
	same := func(p, q int) bool {
		return p >= 0 && q < len(steps) && float64(abs(steps[p].theta-steps[q].theta)) <= sameLevel*max(x.scale, 1)+4*float64(x.mad)+float64(steps[p].loose+steps[q].loose)
	}
	for i := range steps {
		c := &steps[i]
		// Records that are lost at both ends of a step leave it alone with its level, and those around it agree.
		alone := len(steps) == 1 || c.a1-c.a0 >= manyItems && !same(i-1, i+1)
		// A thread that is taken off its core ends its only collective of a step late; the profiler loses no records of threads.
		late := c.loose > 0 && same(i-1, i+1)
		if !c.even || !same(i-1, i) && !same(i, i+1) && !alone && !late {
			continue
		}
		for k := range c.a1 - c.a0 {
			x.pairs = append(x.pairs, pair{c.a0 + k, c.b0 + k})
		}
	}
	if 2*len(x.pairs) < int(common) {
		x.pairs = nil
	}
	return len(x.pairs) > 0
}

// levelOf is the middle difference of ends of a candidate, and whether all of it agrees with that.
func (x *aligner) levelOf(c *candidate) (int64, bool) {
	n := c.a1 - c.a0
	ds := make([]int64, 0, n)
	for k := range n {
		p := pair{c.a0 + k, c.b0 + k}
		if t := Coll(x.a[p.a].token >> 56); t == Other || t.meets() {
			ds = append(ds, x.diff(p))
		}
	}
	if len(ds) == 0 {
		ds = append(ds, x.diff(pair{c.a0, c.b0}))
	}
	mid := stat.Median(ds)
	late := int32(0)
	for k := range n {
		if p := (pair{c.a0 + k, c.b0 + k}); float64(abs(x.diff(p)-mid)) > suspicious*x.noise(p) && !x.afterwards(p, mid) {
			if late++; !x.loose(p) || 2*late >= n {
				return mid, false
			}
		}
	}
	return mid, true
}

// afterwards reports whether the one side came when the other had left a collective in which nobody has to wait for all: a broadcast, of which
// the root is done once it has sent. Then its end says when it came, and nothing of the clocks. theta is by how much the second clock is ahead.
func (x *aligner) afterwards(p pair, theta int64) bool {
	u, v := &x.a[p.a], &x.b[p.b]
	if c := Coll(max(u.token, v.token) >> 56); c == Other || c.meets() {
		return false
	}
	if d := x.diff(p) - theta; d > 0 {
		return int64(v.dur) <= d
	} else {
		return int64(u.dur) <= -d
	}
}

// loose reports whether a pair is a collective of the CPU: a thread that is taken off its core ends one milliseconds late, so the ends of most of
// a step decide for all of it.
func (x *aligner) loose(p pair) bool {
	return (x.a[p.a].token|x.b[p.b].token)&marksOfWay == loose
}

// measure is by how much the ends of the candidates differ more than expected, in the middle.
func (x *aligner) measure(steps []candidate) float64 {
	var r []float64
	for i := range steps {
		c := &steps[i]
		for k := range c.a1 - c.a0 {
			p := pair{c.a0 + k, c.b0 + k}
			r = append(r, float64(abs(x.diff(p)-c.theta))/x.noise(p))
		}
	}
	if len(r) == 0 {
		return 1
	}
	slices.Sort(r)
	return min(max(1.48*stat.Quantile(r, 0.5), 1), noisiest)
}

// noisiest is how much more than expected is still noise.
const noisiest = 4.0

// lossySteps aligns each step that both ranks have, with gaps, around the difference of ends that fits it best. Those
// that occur most often are tried.
func (x *aligner) lossySteps() {
	inA, inB := stepRuns(x.a), stepRuns(x.b)
	bins := x.topBins()
	last := int32(-1)
	for i := range x.a {
		step := x.a[i].steps.number()
		if step < 0 || i > 0 && x.a[i-1].steps.number() == step {
			continue
		}
		ra := inA[step]
		rb, ok := inB[step]
		if !ok || ra[0] < 0 || rb[0] <= last {
			continue
		}
		if best := x.lossyStep(ra, rb, bins); len(best) > 0 {
			x.pairs = append(x.pairs, best...)
			last = best[len(best)-1].b
		}
	}
}

// topBins are the differences of ends that occur most often in the steps that both lists have, in bins.
func (x *aligner) topBins() []int64 {
	bins := map[int64]int{}
	stride := (len(x.a) + voteSamples - 1) / voteSamples
	for i := 0; i < len(x.a); i += stride {
		for k := range x.b {
			if n := x.a[i].steps.number(); n >= 0 && n == x.b[k].steps.number() && x.alike(pair{int32(i), int32(k)}) {
				bins[floorDiv(x.b[k].end-x.a[i].end, voteBin)]++
			}
		}
	}
	order := slices.SortedFunc(maps.Keys(bins), func(p, q int64) int { return cmp.Or(cmp.Compare(bins[q], bins[p]), cmp.Compare(p, q)) })
	return order[:min(stepTries, len(order))]
}

// fewPairs is up to how many pairs of operations of a step are all tried as its difference of ends.
const fewPairs = 100

// lossyStep aligns one step. Besides the bins it tries, of a small step, the differences of all its pairs.
func (x *aligner) lossyStep(ra, rb [2]int32, bins []int64) []pair {
	var thetas []int64
	for _, bin := range bins {
		thetas = append(thetas, bin*voteBin+voteBin/2)
	}
	if (ra[1]-ra[0])*(rb[1]-rb[0]) <= fewPairs {
		for i := ra[0]; i < ra[1]; i++ {
			for k := rb[0]; k < rb[1]; k++ {
				thetas = append(thetas, x.diff(pair{i, k}))
			}
		}
	}
	type try struct {
		pairs []pair
		mid   int64
		cost  float64
	}
	var tries []try
	best := try{cost: gapCost * float64(ra[1]-ra[0]+rb[1]-rb[0]) * 2 / 3}
	for _, theta := range thetas {
		pairs, _ := x.gapped(ra[0], ra[1], rb[0], rb[1], theta)
		if len(pairs) == 0 {
			continue
		}
		var ds []int64
		for _, p := range pairs {
			ds = append(ds, x.diff(p))
		}
		mid := stat.Median(ds)
		again, c := x.gapped(ra[0], ra[1], rb[0], rb[1], mid)
		if n := len(x.pairs); n > 0 && abs(mid-x.near(x.pairs, n)) > sameLevel {
			c += gapCost // operations that are off by one
		}
		tries = append(tries, try{again, mid, c})
		if c < best.cost {
			best = tries[len(tries)-1]
		}
	}
	for _, t := range tries { // without a step before it nothing else tells them apart
		if len(x.pairs) == 0 && abs(t.mid-best.mid) > sameLevel && t.cost < best.cost+clearlyBetter {
			return nil
		}
	}
	return best.pairs
}

// clearlyBetter is by how much one difference of ends has to cost less than any other.
const clearlyBetter = 3 * gapCost

// near is the difference of ends around a place between matched pairs: of the 16 nearest.
func (x *aligner) near(matched []pair, at int) int64 {
	lo := max(at-8, 0)
	hi := min(lo+16, len(matched))
	lo = max(hi-16, 0)
	var ds []int64
	for _, p := range matched[lo:hi] {
		ds = append(ds, x.diff(p))
	}
	return stat.Median(ds)
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
			more, _ := x.gapped(a0, a1, b0, b1, x.near(steps, i))
			out = append(out, more...)
		}
		if i < len(steps) {
			out = append(out, steps[i])
			a0, b0 = a1+1, b1+1
		}
	}
	x.pairs = out
}

// Costs of an alignment with gaps, in units of noise.
const (
	gapCost  = 5.0
	farthest = 12.0 // an operation that ends farther from where it should is not the same
	mostCell = 1 << 20
)

// gapped aligns two runs of operations around a difference of ends, with gaps on both sides: of all alignments that keep
// the order the one that costs least. It returns its cost too.
func (x *aligner) gapped(a0, a1, b0, b1 int32, theta int64) ([]pair, float64) {
	n, m := int(a1-a0), int(b1-b0)
	if n*m > mostCell {
		return x.walk(a0, a1, b0, b1, theta), 0
	}
	best := make([]float32, (n+1)*(m+1))
	step := make([]uint8, (n+1)*(m+1)) // 0 pair, 1 gap in b, 2 gap in a
	at := func(i, k int) int { return i*(m+1) + k }
	for i := n; i >= 0; i-- {
		for k := m; k >= 0; k-- {
			switch {
			case i == n:
				best[at(i, k)], step[at(i, k)] = gapCost*float32(m-k), 2
				continue
			case k == m:
				best[at(i, k)], step[at(i, k)] = gapCost*float32(n-i), 1
				continue
			}
			c, s := best[at(i+1, k)]+gapCost, uint8(1)
			if d := best[at(i, k+1)] + gapCost; d < c {
				c, s = d, 2
			}
			p := pair{a0 + int32(i), b0 + int32(k)}
			if r := float64(abs(x.diff(p)-theta)) / x.noise(p); r <= farthest && x.alike(p) {
				if d := best[at(i+1, k+1)] + float32(r); d <= c {
					c, s = d, 0
				}
			}
			best[at(i, k)], step[at(i, k)] = c, s
		}
	}
	var out []pair
	for i, k := 0, 0; i < n && k < m; {
		switch step[at(i, k)] {
		case 0:
			out = append(out, pair{a0 + int32(i), b0 + int32(k)})
			i++
			k++
		case 1:
			i++
		default:
			k++
		}
	}
	return out, float64(best[0])
}

// walk goes along two runs and pairs what ends together, as far as it is alike.
func (x *aligner) walk(a0, a1, b0, b1 int32, theta int64) []pair {
	var out []pair
	for i, k := a0, b0; i < a1 && k < b1; {
		p := pair{i, k}
		r := x.diff(p) - theta
		switch {
		case abs(r) <= max(60_000, x.shorter(p)/20) && x.alike(p):
			out = append(out, p)
			i++
			k++
		case r > 0: // b ends later: a is behind
			i++
		default:
			k++
		}
	}
	return out
}
