package ranks

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// solveClocks finds the clock of each rank, and what the solution is worth.
func (j *Job) solveClocks(trust bool) {
	j.Clocks = ClockQuality{}
	for m := range j.Members {
		j.Members[m].Clock = Clock{}
	}
	o := j.observe()
	if trust {
		j.Clocks.Trusted = true
		for m := range j.Members {
			j.Members[m].Clock = Clock{Pieces: []Piece{{From: math.MinInt64, Mid: j.Members[m].Window[0]}}}
		}
		j.Clocks.Components = 1
		j.judgeClocks(o.cases)
		return
	}
	o.center()
	components := o.spanningTree()
	o.solve()
	const most = 64 // a clock that jumps more often is no clock
	for range most {
		if !j.splitJump(o) {
			break
		}
		j.Clocks.Jumps++
		o.center()
		o.solve()
	}
	j.takeClocks(o, components)
	cases := o.cases
	*o = observations{} // a large job needs the room
	j.judgeClocks(cases)
}

// What counts as a jump of a clock.
const (
	jumpSide  = 4      // observations on each side
	jumpReach = 8      // observations on each side that are looked at
	jumpLeast = 50_000 // ns
)

// splitJump finds the largest jump of a clock that is left, and gives the rank another node from there on.
func (j *Job) splitJump(o *observations) bool {
	of := map[series][]int32{}
	r := make([]float64, len(o.node))
	o.residuals(func(c int, i int32, x float64) {
		r[i] = x
		key := series{o.node[i], j.Instances[o.cases[c]].Group}
		of[key] = append(of[key], i)
	})
	order := slices.SortedFunc(maps.Keys(of), func(a, b series) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.group, b.group)) })
	best, bestAt, bestScore, shift := series{node: -1}, 0, 8.0, 0.0
	for _, key := range order {
		list := of[key]
		if len(list) < 2*jumpSide {
			continue
		}
		slices.SortStableFunc(list, func(a, b int32) int {
			switch {
			case o.end[a] < o.end[b]:
				return -1
			case o.end[a] > o.end[b]:
				return 1
			}
			return int(a - b)
		})
		k, ok := steepest(list, r)
		if !ok {
			continue
		}
		left, right := reach(list, r, k)
		ml, mr := median(left), median(right)
		noise := (spread(left, ml) + spread(right, mr)) / 2
		if score := float64(abs(mr-ml)) / (1.5*float64(noise) + 5000); abs(mr-ml) > jumpLeast && score >= bestScore {
			best, bestAt, bestScore, shift = key, k, score, float64(mr-ml)
		}
	}
	if best.node < 0 {
		return false
	}
	list := of[best]
	o.split(best.node, o.end[list[bestAt-1]]+1, shift) // ranks of one host saw that end at about one moment
	return true
}

// series is the observations of a node in one group: others of it may not see a jump that the ranks of a host share.
type series struct{ node, group int32 }

// split gives what a node observed from a moment on to a node of its own.
func (o *observations) split(old int32, from, shift float64) {
	n := int32(len(o.owner))
	o.owner = append(o.owner, o.owner[old])
	o.x, o.d = append(o.x, o.x[old]+shift), append(o.d, 0)
	o.d[old] = 0
	o.from = append(o.from, from)
	for i := range o.node {
		if o.node[i] == old && o.end[i] >= from {
			o.node[i] = n
		}
	}
}

// steepest is the place in a list of observations at which the means on both sides differ most.
func steepest(list []int32, r []float64) (int, bool) {
	best, most := 0, 0.0
	for k := jumpSide; k+jumpSide <= len(list); k++ {
		lo, hi := max(k-jumpReach, 0), min(k+jumpReach, len(list))
		left, right := 0.0, 0.0
		for _, i := range list[lo:k] {
			left += r[i]
		}
		for _, i := range list[k:hi] {
			right += r[i]
		}
		if d := math.Abs(right/float64(hi-k) - left/float64(k-lo)); d > most {
			best, most = k, d
		}
	}
	return best, most > jumpLeast/2
}

// reach are the residuals on both sides of a place.
func reach(list []int32, r []float64, k int) (left, right []int64) {
	for _, i := range list[max(k-jumpReach, 0):k] {
		left = append(left, int64(r[i]))
	}
	for _, i := range list[k:min(k+jumpReach, len(list))] {
		right = append(right, int64(r[i]))
	}
	return left, right
}

// takeClocks turns the solution into clocks of which the lowest rank of each component is the zero.
func (j *Job) takeClocks(o *observations, components *sets) {
	weight := make([]float64, len(o.owner))
	count := make([]int, len(j.Members))
	for i, n := range o.node {
		weight[n] += float64(o.w[i])
		count[o.owner[n]]++
	}
	q := math.Max(1, 1.48*o.typical())
	number := map[int32]int32{}
	for n := range o.owner { // the first node of each rank comes first, so the reference of a component is solved by then
		m := o.owner[n]
		root := components.find(m)
		if _, ok := number[root]; !ok {
			number[root] = int32(len(number))
		}
		w, ref := j.Members[m].Window[0], j.Members[root].Window[0]
		x := o.x[n] - o.x[root]
		x -= o.d[root] * ((o.mid[n] - o.x[n]) - (o.mid[root] - o.x[root]))
		d := o.d[n] - o.d[root]
		c := &j.Members[m].Clock
		c.Observations, c.Component = count[m], number[root]
		fault := int64(0)
		if weight[n] > 0 && int32(n) != root {
			fault = int64(2 * q * math.Sqrt(1/weight[n]+1e6))
		}
		c.Error = max(c.Error, fault)
		half := float64(j.Members[m].Window[1]-w) / 2
		if math.Abs(d)*half <= math.Max(1000, float64(fault)) {
			d = 0
		}
		p := Piece{From: math.MinInt64, Mid: w + int64(o.mid[n]), Offset: w - ref + int64(math.Round(x)), Drift: d}
		if len(c.Pieces) > 0 {
			p.From = w + int64(math.Round(o.from[n]))
		}
		c.Pieces = append(c.Pieces, p)
	}
	for m := range j.Members {
		slices.SortStableFunc(j.Members[m].Clock.Pieces, func(a, b Piece) int {
			if a.From < b.From {
				return -1
			}
			return 1
		})
		for _, p := range j.Members[m].Clock.Pieces {
			j.Clocks.Largest = max(j.Clocks.Largest, abs(p.Offset))
		}
	}
	j.Clocks.Components = len(number)
}

// typical is the median residual in units of what is expected.
func (o *observations) typical() float64 {
	u := make([]float64, 0, len(o.node))
	o.residuals(func(c int, _ int32, r float64) { u = append(u, math.Abs(r)/o.sigma[c]) })
	if len(u) == 0 {
		return 0
	}
	slices.Sort(u)
	return u[len(u)/2]
}

// judgeClocks says how well ends agree, and counts the instances that somebody left before the last one came.
func (j *Job) judgeClocks(cases []int32) {
	n := 0
	for _, i := range cases {
		n += int(j.Instances[i].N)
	}
	all, ends := make([]int32, 0, n), []int64(nil)
	for _, i := range cases {
		in := &j.Instances[i]
		arrive, fault := int64(math.MinInt64), int64(0)
		ends = ends[:0]
		for _, r := range j.refs(int(i)) {
			m := &j.Members[r.Member]
			arrive = max(arrive, m.Clock.Global(m.Ops[r.Op].Start))
			ends = append(ends, m.Clock.Global(m.Ops[r.Op].End))
			fault = max(fault, m.Clock.Error)
		}
		mid := median(ends) // sorts
		if in.Coll.meets() && ends[0] < arrive-2000-fault {
			j.Clocks.Violations++
		}
		for _, e := range ends {
			all = append(all, int32(min(abs(e-mid), math.MaxInt32)))
		}
	}
	j.Clocks.P50, j.Clocks.P90 = int64(quantile(all, 0.5)), int64(quantile(all, 0.9))
}
