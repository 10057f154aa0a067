package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/stat"
)

// endNoise is by how much the ends of one collective differ for no reason, ns: it is the same within a host.
const endNoise = 1500

// observations are the ends of instances on ranks. Times count from the start of the rank's window (Members[m].Window[0]).
type observations struct {
	first []int32   // CSR: those of case c are at [first[c]:first[c+1]]
	cases []int32   // instance of each case
	node  []int32   // the member
	end   []float64 // ns
	sigma []float64 // per case, ns
	w     []float32 // robust weight over sigma²
	mid   []float64 // per member
	x, d  []float64 // per member: offset and drift
	lead  []int32   // per member: the first of those that have its drift
	slope float64   // by which clocks drift
	firm  float64   // what the slope counts for, in units of the noise
	vague []float64 // per member: by how much its drift may be another
}

// observe collects the instances from which clocks can be told: nobody leaves them before the last one came.
func (j *Matched) observe() *observations {
	o, n := &observations{first: []int32{0}, slope: usualDrift, firm: 1}, 0
	for i := range j.Instances {
		n += int(j.Instances[i].N)
	}
	o.node, o.end = make([]int32, 0, n), make([]float64, 0, n)
	for i := range j.Instances {
		in := &j.Instances[i]
		if !in.Coll.meets() && in.Coll != Other {
			continue
		}
		shortest := int64(math.MaxInt64)
		for _, r := range j.refs(i) {
			op := &j.Members[r.Member].Ops[r.Op]
			shortest = min(shortest, op.End-op.Start)
			o.node = append(o.node, r.Member)
			o.end = append(o.end, float64(op.End-j.Members[r.Member].Window[0]))
		}
		o.first = append(o.first, int32(len(o.node)))
		o.cases = append(o.cases, int32(i))
		share := in.Coll.ends()
		if first := j.Of[in.First]; j.Members[first.Member].Kinds[in.Kind].Token&marksOfWay == loose {
			share = looseEnds
		}
		o.sigma = append(o.sigma, math.Hypot(endNoise, share*float64(shortest)))
	}
	o.w = make([]float32, len(o.node))
	o.lead = make([]int32, len(j.Members))
	for m := range o.lead {
		o.lead[m] = int32(m)
	}
	o.mid, o.x, o.d = make([]float64, len(j.Members)), make([]float64, len(j.Members)), make([]float64, len(j.Members))
	o.vague = make([]float64, len(j.Members))
	return o
}

// center sets the middle of each member's observations.
func (o *observations) center() {
	lo, hi := make([]float64, len(o.mid)), make([]float64, len(o.mid))
	for n := range lo {
		lo[n], hi[n] = math.Inf(1), math.Inf(-1)
	}
	for i, n := range o.node {
		lo[n], hi[n] = math.Min(lo[n], o.end[i]), math.Max(hi[n], o.end[i])
	}
	for n := range lo {
		if lo[n] <= hi[n] {
			o.mid[n] = math.Round((lo[n] + hi[n]) / 2)
		}
	}
}

// tau is the time of an observation, from the middle of those of its member.
func (o *observations) tau(i int32) float64 { return float64(float32(o.end[i] - o.mid[o.node[i]])) }

// global is an observation on the job's clock, by the present solution.
func (o *observations) global(i int32) float64 {
	n := o.node[i]
	return o.end[i] - o.x[n] - o.d[o.lead[n]]*o.tau(i)
}

// spanningTree sets offsets along the best connections between members: medians of differences of ends. It returns the
// components.
func (o *observations) spanningTree() *sets {
	type link struct {
		a, b int32
		cost float64
		diff int64 // of b over a
	}
	byPair := map[[2]int32][]int64{}
	sigma := map[[2]int32]float64{}
	for c := range o.cases {
		lo, hi := o.first[c], o.first[c+1]
		for i := lo; i < hi; i++ { // a star and a ring: enough to connect, and linear
			for _, k := range [...]int32{lo, i + 1} {
				if k >= hi || k == i {
					continue
				}
				a, b := i, k
				if o.node[a] > o.node[b] {
					a, b = b, a
				}
				key := [2]int32{o.node[a], o.node[b]}
				if len(byPair[key]) < 256 {
					byPair[key] = append(byPair[key], int64(o.end[b]-o.end[a]))
				}
				if s, ok := sigma[key]; !ok || o.sigma[c] < s {
					sigma[key] = o.sigma[c]
				}
			}
		}
	}
	links := make([]link, 0, len(byPair))
	for key, ds := range byPair {
		mid := stat.Median(ds)
		links = append(links, link{key[0], key[1], float64(stat.Spread(ds, mid))/math.Sqrt(float64(len(ds))) + sigma[key], mid})
	}
	slices.SortFunc(links, func(p, q link) int {
		return cmp.Or(cmp.Compare(p.cost, q.cost), cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b))
	})
	all := newSets(len(o.x))
	next := make([][]link, len(o.x))
	for _, l := range links {
		if all.join(l.a, l.b) {
			next[l.a] = append(next[l.a], l)
			next[l.b] = append(next[l.b], link{l.b, l.a, l.cost, -l.diff})
		}
	}
	done := make([]bool, len(o.x))
	for n := range o.x {
		if done[n] {
			continue
		}
		done[n] = true
		for queue := []int32{int32(n)}; len(queue) > 0; queue = queue[1:] {
			for _, l := range next[queue[0]] {
				if !done[l.b] {
					done[l.b] = true
					o.x[l.b] = o.x[l.a] + float64(l.diff)
					queue = append(queue, l.b)
				}
			}
		}
	}
	return all
}

// solve refines offsets and drifts by robust least squares: what is far off the rest counts less, and never nothing, so
// that a rank stays connected.
func (o *observations) solve(components *sets, members []Member) {
	for i := range o.w {
		o.w[i] = 0
	}
	for c := range o.cases {
		for i := o.first[c]; i < o.first[c+1]; i++ {
			o.w[i] = float32(1 / (o.sigma[c] * o.sigma[c]))
		}
	}
	const rounds = 5
	for round := range rounds {
		if round > 0 {
			o.reweigh()
		}
		if round > 1 {
			if round == 2 {
				o.shareDrifts(members)
			}
			o.expect(components)
		}
		o.minimise()
	}
}

// residuals calls visit with each observation and its difference from the weighted mean of its instance.
func (o *observations) residuals(visit func(c int, i int32, r float64)) {
	for c := range o.cases {
		mean := o.mean(c)
		for i := o.first[c]; i < o.first[c+1]; i++ {
			visit(c, i, o.global(i)-mean)
		}
	}
}

// mean is when an instance ended, by its members together.
func (o *observations) mean(c int) float64 {
	lo := o.first[c]
	base := o.global(lo)
	sum, weight := 0.0, 0.0
	for i := lo; i < o.first[c+1]; i++ {
		sum += float64(o.w[i]) * (o.global(i) - base)
		weight += float64(o.w[i])
	}
	return base + sum/weight
}

func (o *observations) reweigh() {
	var ends []float64
	o.firm = sq(o.noise())
	q := math.Max(1, math.Sqrt(o.firm))
	for c := range o.cases {
		lo, hi := o.first[c], o.first[c+1]
		ends = ends[:0]
		for i := lo; i < hi; i++ {
			ends = append(ends, o.global(i))
		}
		var mid float64
		if len(ends) > 2 { // one that is far off moves the mean of a few, not their median
			slices.Sort(ends)
			mid = stat.Quantile(ends, 0.5)
		} else {
			mid = o.mean(c)
		}
		for i := lo; i < hi; i++ {
			u := math.Abs(o.global(i)-mid) / (o.sigma[c] * q)
			w := 1.0
			switch {
			case u > 8:
				w = 24 / (u * u)
			case u > 3:
				w = 3 / u
			}
			o.w[i] = float32(w / (o.sigma[c] * o.sigma[c]))
		}
	}
}
