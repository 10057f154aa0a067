package ranks

import (
	"math"
	"slices"

	"overlay/internal/stat"
)

// solveClocks finds the clock of each rank, and what the solution is worth.
func (j *Matched) solveClocks(trust bool) {
	j.Clocks = ClockQuality{}
	for m := range j.Members {
		j.Members[m].Clock = Clock{}
	}
	o := j.observe()
	if trust {
		j.Clocks.Trusted = true
		for m := range j.Members {
			j.Members[m].Clock = Clock{Mid: j.Members[m].Window[0]}
		}
		j.Clocks.Components = 1
		j.judgeClocks(o.cases)
		return
	}
	components := o.spanningTree()
	o.center()
	o.solve(components, j.Members)
	j.takeClocks(o, components)
	cases := o.cases
	*o = observations{} // a large job needs the room
	j.judgeClocks(cases)
}

// takeClocks turns the solution into clocks of which the lowest rank of each component is the zero. A clock that was set while it recorded is not looked for: Kineto turns
// the counter of the processor into time of the day by one straight line for all of a trace.
func (j *Matched) takeClocks(o *observations, components *sets) {
	count := make([]int, len(j.Members))
	for _, n := range o.node {
		count[n]++
	}
	at := o.faults(j, components)
	number := map[int32]int32{}
	for n := range j.Members { // the reference of a component comes first
		root := components.find(int32(n))
		if _, ok := number[root]; !ok {
			number[root] = int32(len(number))
		}
		w, ref := j.Members[n].Window[0], j.Members[root].Window[0]
		x := o.x[n] - o.x[root]
		x -= o.d[o.lead[root]] * ((o.mid[n] - o.x[n]) - (o.mid[root] - o.x[root]))
		d := o.d[o.lead[n]] - o.d[o.lead[root]]
		j.Members[n].Clock = Clock{Mid: w + int64(o.mid[n]), Offset: w - ref + int64(math.Round(x)), Drift: d, Error: int64(deviations * at[n]), Observations: count[n], Component: number[root]}
	}
	j.Clocks.Components = len(number)
	j.shareClocks()
	for m := range j.Members {
		j.Clocks.Largest = max(j.Clocks.Largest, abs(j.Members[m].Clock.Offset))
	}
}

// Processes of one host read one clock.
const (
	readings = 2000 // ns, by which they differ in how they turn its counter into time
	closer   = 4    // times nearer than by the ends of collectives
	agreeing = 2    // times as far off as ends tell at most, and ends do not speak against that: what makes ends differ may do so in every collective
)

// shareClocks gives a rank the clock of the rank of its host whose clock is known best, where that says more than the ends of its own collectives: on busy CPUs these
// scatter by milliseconds. Where ends say something else, hosts only have one name.
func (j *Matched) shareClocks() {
	type host struct {
		name      string
		component int32
	}
	best := map[host]Clock{}
	for m := range j.Members {
		x := &j.Members[m]
		at := host{x.Host, x.Clock.Component}
		if c, ok := best[at]; !ok || x.Clock.Error < c.Error {
			best[at] = x.Clock
		}
	}
	for m := range j.Members {
		x := &j.Members[m]
		c := best[host{x.Host, x.Clock.Component}]
		c.Error, c.Observations = c.Error+readings, x.Clock.Observations
		if x.Host != "" && closer*c.Error < x.Clock.Error && abs(c.Global(x.Clock.Mid)-x.Clock.Global(x.Clock.Mid)) <= agreeing*(c.Error+x.Clock.Error) {
			x.Clock = c
		}
	}
}

func sq(x float64) float64 { return x * x }

// noise is by how much ends scatter, in units of what is expected: the median residual says it as far as there are many.
func (o *observations) noise() float64 { return o.noises(make([]int32, len(o.cases)), 1)[0] }

// noises is by how much ends scatter in each of several hubs, where what is expected is what is seen in all. The mean of few is near each of them, and clocks
// that are fitted to few follow their noise: the residuals have as many degrees of freedom fewer as offsets and drifts were fitted.
func (o *observations) noises(hub []int32, hubs int) []float64 {
	const enough = 1 << 18
	every := int32(len(o.node)/enough + 1)
	all := make([]float32, 0, min(len(o.node), enough))
	by, count := make([][]float32, hubs), make([]float64, hubs)
	o.residuals(func(c int, i int32, r float64) {
		n := float64(o.first[c+1] - o.first[c])
		if i == o.first[c] {
			count[hub[c]] += n - 1
		}
		if i%every == 0 {
			u := float32(math.Abs(r) / o.sigma[c] * math.Sqrt(n/(n-1)))
			all, by[hub[c]] = append(all, u), append(by[hub[c]], u)
		}
	})
	n := float64(len(o.node) - len(o.cases))
	left := math.Max(n-2*float64(len(o.x)-1), 1) / math.Max(n, 1)
	scatter := func(u []float32, n, expected float64) float64 {
		if len(u) == 0 {
			return expected
		}
		slices.Sort(u)
		free := n * left
		return math.Sqrt((n*sq(1.48*stat.Quantile(u, 0.5)) + few*sq(expected)) / (free + few))
	}
	q, out := scatter(all, n, 1), make([]float64, hubs)
	for h := range out {
		out[h] = q
		if hubs > 1 {
			out[h] = scatter(by[h], count[h], q)
		}
	}
	return out
}

// few is how many residuals count as much as what is expected.
const few = 8

// judgeClocks says how well ends agree, and counts the instances that somebody left before the last one came.
func (j *Matched) judgeClocks(cases []int32) {
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
		mid := stat.Median(ends)
		if in.Coll.meets() && slices.Min(ends) < arrive-2000-fault {
			j.Clocks.Violations++
		}
		for _, e := range ends {
			all = append(all, int32(min(abs(e-mid), math.MaxInt32)))
		}
	}
	slices.Sort(all)
	j.Clocks.P50, j.Clocks.P90 = int64(stat.Quantile(all, 0.5)), int64(stat.Quantile(all, 0.9))
}
