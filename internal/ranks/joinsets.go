package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// set is ranks whose clocks are solved against each other, and what they did: by channel collectives that were found, and operations
// that are in none, by when they ended on the clock of the set.
type set struct {
	origin     int64 // from which times count, on the clock of the set: where its lowest rank begins, so that nothing depends on what clocks show
	components []int32
	ahead      []int64 // of the components: by how much their clocks are ahead of that of the set
	channels   map[int32][]item
	items      int
	gone       bool // it became a part of another
	grown      bool // it has taken another
}

// joinSets puts sets of ranks on one clock that share channels, but of which neither steps nor numbers tell what of them is one. All channels
// between two sets tell the same difference of clocks: that at which their operations end together. It reports whether it joined any.
func (j *Matched) joinSets(channels []channel) bool {
	list := j.sets(channels)
	joined := unite(list, j.vote)
	for i := range list {
		for k, c := range list[i].components {
			if list[i].gone || k == 0 {
				continue
			}
			for m := range j.Members {
				clock := &j.Members[m].Clock
				if clock.Component != c {
					continue
				}
				clock.Offset += list[i].ahead[k]
			}
		}
		if list[i].gone {
			continue
		}
		for m := range j.Members {
			if clock := &j.Members[m].Clock; slices.Contains(list[i].components, clock.Component) {
				clock.Component = list[i].components[0]
			}
		}
	}
	return joined
}

// unite lets sets take those that fit, by how much the other's ends are later. Two that do not fit are tried again when one of them has taken another. Of very many that
// do not fit, those with most are tried alone.
func unite(list []set, vote func(s, o *set) (int64, bool)) (joined bool) {
	left := mostMisfits
	for at := range list {
		for ref := &list[at]; !ref.gone && left > 0; {
			thetas, fits, tried := make([]int64, len(list)), make([]bool, len(list)), make([]bool, len(list))
			for i := range list {
				tried[i] = i != at && !list[i].gone && (i > at || ref.grown)
			}
			par.Each(len(list), func(i int) {
				if tried[i] {
					thetas[i], fits[i] = vote(ref, &list[i])
				}
			})
			some := false
			for i := range list {
				switch {
				case fits[i]:
					ref.take(&list[i], thetas[i])
					some = true
				case tried[i]:
					left--
				}
			}
			if !some {
				break
			}
			ref.grown, joined = true, true
		}
	}
	return joined
}

// mostMisfits is how often sets may not fit: all of 96 may, each with each other.
const mostMisfits = 96 * 95 / 2

// sets lists the components with what they did, the one with most first.
func (j *Matched) sets(channels []channel) []set {
	place := map[int32]int{}
	var list []set
	of := func(member int32) *set {
		m := &j.Members[member]
		c := m.Clock.Component
		at, ok := place[c]
		if !ok {
			at = len(list)
			place[c] = at
			list = append(list, set{origin: m.Clock.Global(m.Window[0]), components: []int32{c}, ahead: []int64{0}, channels: map[int32][]item{}})
		}
		return &list[at]
	}
	for m := range j.Members {
		of(int32(m))
	}
	for i := range channels {
		c := &channels[i]
		if len(c.parts) < 2 {
			continue
		}
		add := func(member int32, x item) {
			s := of(member)
			x.end -= s.origin
			s.channels[int32(i)] = append(s.channels[int32(i)], x)
			s.items++
		}
		for _, x := range c.knownItems(j) {
			add(c.found[x.op].refs[0].Member, x)
		}
		for _, l := range c.lists(&j.Gathered) {
			m := &j.Members[l.member]
			for _, x := range l.items {
				x.end = m.Clock.Global(m.Window[0] + x.end)
				add(l.member, x)
			}
		}
	}
	for i := range list {
		for _, items := range list[i].channels {
			slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.end, b.end) })
		}
	}
	slices.SortStableFunc(list, func(a, b set) int { return cmp.Compare(b.items, a.items) })
	return list
}

// take makes another set a part of this one, of which all ended by theta later, each counted from its origin.
func (s *set) take(o *set, theta int64) {
	for k, c := range o.components {
		s.components, s.ahead = append(s.components, c), append(s.ahead, o.ahead[k]+theta+o.origin-s.origin)
	}
	for c, b := range o.channels {
		a := s.channels[c]
		x := &aligner{a: a, b: b}
		taken := make([]int32, len(b))
		for _, p := range x.walk(0, int32(len(a)), 0, int32(len(b)), theta) {
			taken[p.b] = 1
		}
		for _, i := range without(b, taken) {
			i.end -= theta
			a = append(a, i)
		}
		slices.SortStableFunc(a, func(p, q item) int { return cmp.Compare(p.end, q.end) })
		s.channels[c] = a
		s.items += len(a) - len(x.a)
	}
	o.gone = true
}

// vote finds by how much the ends of another set are later, each counted from its origin. It reports whether there is one such difference, and no other is about as good.
func (j *Matched) vote(s, o *set) (int64, bool) {
	var shared []aligner
	for _, c := range slices.Sorted(keys(o.channels)) {
		if a := s.channels[c]; a != nil {
			shared = append(shared, aligner{a: a, b: o.channels[c]})
		}
	}
	limit, gap := voteFit, func(int) float64 { return voteGap }
	if j.Clocks.P50 > 0 { // the collectives that were found tell how well ends agree
		limit, gap = voteFit*min(max(float64(j.Clocks.P50)/endNoise, leastNoise), noisiest), chanceGap
	}
	var tries []voteTry
	for _, bin := range votes(shared) {
		t := tryAt(shared, bin*voteBin+voteBin/2)
		if t.pairs >= votePairs && t.fills() && !slices.ContainsFunc(tries, func(x voteTry) bool { return abs(x.theta-t.theta) < voteBin }) {
			tries = append(tries, t)
		}
	}
	if len(tries) == 0 {
		return 0, false
	}
	slices.SortStableFunc(tries, func(p, q voteTry) int { return cmp.Compare(p.cost, q.cost) })
	best := tries[0]
	if best.fit > limit {
		return 0, false
	}
	for _, t := range tries[1:] {
		if 2*t.pairs >= best.pairs && t.cost <= gap(min(t.pairs, best.pairs))*max(best.cost, leastNoise) {
			return 0, false
		}
	}
	return best.theta, true
}

// leastNoise is by how little ends may seem to differ, in units of what is expected.
const leastNoise = 0.2

// chanceGap is by how much a wrong difference of clocks fits worse with so many pairs: three times what chance does.
func chanceGap(n int) float64 { return math.Exp(3.3 / math.Sqrt(float64(n))) }

// voteTry is a difference of clocks, and how well the ends agree with it.
type voteTry struct {
	theta          int64
	pairs, overlap int
	fit            float64 // residual of the nine tenths that fit best, in units of noise
	cost           float64 // residual of all in the overlap; what has no partner there is as far from it as can be
}

// fills reports whether nearly all is paired that both sides have at that time.
func (t *voteTry) fills() bool { return 10*t.pairs >= 9*t.overlap }

// tryAt pairs what ends together if the other clock is ahead by theta, and finds the difference that fits these best.
func tryAt(shared []aligner, theta int64) voteTry {
	t := voteTry{theta: theta}
	for round := range 3 { // around what the one before found
		var ds []int64
		var residuals []float64
		t.overlap = 0
		for i := range shared {
			x := &shared[i]
			t.overlap += x.within(t.theta)
			for _, p := range x.walk(0, int32(len(x.a)), 0, int32(len(x.b)), t.theta) {
				ds = append(ds, x.diff(p))
				residuals = append(residuals, float64(abs(x.diff(p)-t.theta))/x.noise(p))
			}
		}
		if len(ds) == 0 {
			return t
		}
		if t.pairs = len(ds); round < 2 {
			t.theta = stat.Median(ds)
			continue
		}
		slices.Sort(residuals)
		most := (9*len(residuals) + 9) / 10
		for i, r := range residuals {
			if i < most {
				t.fit += r / float64(most)
			}
			t.cost += min(r, farthest)
		}
		t.cost = (t.cost + farthest*float64(max(t.overlap-t.pairs, 0))) / float64(max(t.overlap, t.pairs))
	}
	return t
}

// within is how many operations of the one list lie in the time of the other, where fewer do.
func (x *aligner) within(theta int64) int {
	if len(x.a) == 0 || len(x.b) == 0 {
		return 0
	}
	from := max(x.a[0].end, x.b[0].end-theta)
	to := min(x.a[len(x.a)-1].end, x.b[len(x.b)-1].end-theta)
	in := func(items []item, theta int64) (n int) {
		for i := range items {
			if t := items[i].end - theta; from <= t && t <= to {
				n++
			}
		}
		return n
	}
	return min(in(x.a, 0), in(x.b, theta))
}

// votes are the differences of ends that occur most often in all channels, in bins. Where so many are compared that all bins have some by chance, those
// count that clearly have more.
func votes(shared []aligner) []int64 {
	total, low, high := 0, int64(math.MaxInt64), int64(math.MinInt64)
	for i := range shared {
		x := &shared[i]
		total += len(x.a)
		if n, m := len(x.a), len(x.b); n > 0 && m > 0 { // they are sorted by their ends
			low, high = min(low, floorDiv(x.b[0].end-x.a[n-1].end, voteBin)), max(high, floorDiv(x.b[m-1].end-x.a[0].end, voteBin))
		}
	}
	if low > high {
		return nil
	}
	var near []int32 // by bin, from low on
	far := map[int64]int32{}
	if high-low < voteBins {
		near = make([]int32, high-low+1)
	}
	stride := (total + voteSamples - 1) / voteSamples
	n, sum := 0, 0
	for s := range shared {
		x := &shared[s]
		for i := range x.a {
			if n++; n%stride != 0 {
				continue
			}
			for k := range x.b {
				if !x.alike(pair{int32(i), int32(k)}) {
					continue
				}
				sum++
				if bin := floorDiv(x.b[k].end-x.a[i].end, voteBin); near != nil {
					near[bin-low]++
				} else {
					far[bin]++
				}
			}
		}
	}
	type vote struct {
		bin   int64
		count int32
	}
	mean := float64(sum) / float64(high-low+1)
	chance := int32(mean + 5*math.Sqrt(mean))
	var order []vote
	for i, c := range near {
		if c > chance {
			order = append(order, vote{low + int64(i), c})
		}
	}
	for bin, c := range far {
		if c > chance {
			order = append(order, vote{bin, c})
		}
	}
	slices.SortFunc(order, func(p, q vote) int { return cmp.Or(cmp.Compare(q.count, p.count), cmp.Compare(p.bin, q.bin)) })
	var bins []int64
	for _, v := range order[:min(setTries, len(order))] {
		bins = append(bins, v.bin)
	}
	return bins
}

// How votes are counted.
const (
	voteBin     = 20_000 // ns
	voteSamples = 400
	setTries    = 16  // bins that are tried of two sets
	stepTries   = 12  // of the steps of two ranks
	votePairs   = 12  // fewer pairs are no evidence
	voteFit     = 3.0 // units of noise by which the better part of the ends may differ
	voteGap     = 4.0 // by which any other way has to fit worse
)

// voteBins is up to how many bins are counted in a table, 16 MiB of it.
const voteBins = 1 << 22
