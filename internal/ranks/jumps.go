package ranks

import (
	"math"
	"slices"

	"overlay/internal/stat"
)

// What counts as a jump of a clock.
const (
	jumpSide  = 4      // observations on each side of it, in the series that shows it best
	jumpReach = 8      // observations on each side that are looked at
	jumpLeast = 50_000 // ns
	jumpScore = 8.0    // by which it exceeds the noise of the series
	jumpClear = 200_000
)

// series is what two nodes observed together in one group, by time: the observations of the one and those of the other. A clock that
// jumps shifts the difference of the ends in all series of its node with nodes that do not jump with it.
type series struct {
	a, b int32
	obs  [][2]int32
}

func (s *series) diff(o *observations, k int) float64 { return o.end[s.obs[k][1]] - o.end[s.obs[k][0]] }

// eachSeries visits the series of neighbours in the lists of members, group after group: along such chains every member can be
// compared with every other. What is visited is valid during the visit.
func (j *Job) eachSeries(o *observations, visit func(s *series)) {
	type pairOf struct{ a, b int32 }
	var all []series
	at := map[pairOf]int{}
	for c := 0; c < len(o.cases); {
		group := j.Instances[o.cases[c]].Group
		n := 0
		clear(at)
		for ; c < len(o.cases) && j.Instances[o.cases[c]].Group == group; c++ {
			for i := o.first[c] + 1; i < o.first[c+1]; i++ {
				key := pairOf{o.node[i-1], o.node[i]}
				k, ok := at[key]
				if !ok {
					k = n
					at[key] = n
					if n++; n > len(all) {
						all = append(all, series{})
					}
					all[k].a, all[k].b, all[k].obs = key.a, key.b, all[k].obs[:0]
				}
				all[k].obs = append(all[k].obs, [2]int32{i - 1, i})
			}
		}
		for k := range all[:n] {
			slices.SortStableFunc(all[k].obs, func(p, q [2]int32) int {
				switch x, y := o.end[p[0]], o.end[q[0]]; {
				case x < y:
					return -1
				case x > y:
					return 1
				}
				return 0
			})
			visit(&all[k])
		}
	}
}

// jump is a moment at which the difference of two clocks changed: after the observation at-1 of a series and before the one at at.
type jump struct {
	from, to float64 // on the clock of the job, as it is known before
	shift    float64 // ns
}

// splitJumps finds the jumps of clocks and gives the nodes that jump another node from there on. All ranks of a host jump together as a
// rule, so it is not asked of each rank by itself, but for each moment, which ranks stayed together: most of them are
// taken to have stood still. It returns the number of jumps.
func (j *Job) splitJumps(o *observations) int {
	const most = 64 // a clock that jumps more often is no clock
	for n := range most {
		x, ok := j.largestJump(o)
		if !ok || !j.splitAt(o, x) {
			return n
		}
	}
	return most
}

// largestJump finds the jump that stands out most.
func (j *Job) largestJump(o *observations) (best jump, found bool) {
	top := jumpScore
	var left, right []int64
	j.eachSeries(o, func(s *series) {
		if len(s.obs) < 2*jumpSide {
			return
		}
		k, size := s.steepest(o, jumpSide, len(s.obs)-jumpSide, jumpSide)
		if math.Abs(size) <= jumpLeast/2 {
			return
		}
		left, right = s.reach(o, k, left[:0], right[:0])
		ml, mr := stat.Median(left), stat.Median(right)
		noise := (stat.Spread(left, ml) + stat.Spread(right, mr)) / 2
		if score := float64(abs(mr-ml)) / (1.5*float64(noise) + 5000); abs(mr-ml) > jumpLeast && score >= top {
			top, found = score, true
			k = s.moment(o, k, float64(ml), float64(mr))
			best = jump{s.at(o, k-1), s.at(o, k), float64(mr - ml)}
		}
	})
	return best, found
}

// at is the time of an observation of the first node on the clock of the job, as it is known.
func (s *series) at(o *observations, k int) float64 { return o.end[s.obs[k][0]] - o.x[s.a] }

// steepest is the place from lo to hi in a series at which the means on both sides differ most, and by how much. On each side are
// at least so many observations.
func (s *series) steepest(o *observations, lo, hi, side int) (at int, shift float64) {
	for k := max(lo, side); k <= min(hi, len(s.obs)-side); k++ {
		l, h := max(k-jumpReach, 0), min(k+jumpReach, len(s.obs))
		left, right := 0.0, 0.0
		for i := l; i < k; i++ {
			left += s.diff(o, i)
		}
		for i := k; i < h; i++ {
			right += s.diff(o, i)
		}
		if d := right/float64(h-k) - left/float64(k-l); at == 0 || math.Abs(d) > math.Abs(shift) {
			at, shift = k, d
		}
	}
	return at, shift
}

// moment moves a place to where the differences of a series change from near one value to near another. The place with enough
// observations on each side may lie beside it.
func (s *series) moment(o *observations, at int, before, after float64) int {
	late := func(k int) bool { d := s.diff(o, k); return math.Abs(d-after) < math.Abs(d-before) }
	for at > 1 && late(at-1) {
		at--
	}
	for at < len(s.obs)-1 && !late(at) {
		at++
	}
	return at
}

// reach are the differences on both sides of a place.
func (s *series) reach(o *observations, k int, left, right []int64) (l, r []int64) {
	for i := max(k-jumpReach, 0); i < k; i++ {
		left = append(left, int64(s.diff(o, i)))
	}
	for i := k; i < min(k+jumpReach, len(s.obs)); i++ {
		right = append(right, int64(s.diff(o, i)))
	}
	return left, right
}

// moved is a series that saw a jump: by how much the second node moved against the first.
type moved struct {
	a, b  int32
	shift float64
}

// splitAt splits the nodes that jumped at a moment.
func (j *Job) splitAt(o *observations, x jump) bool {
	n := len(o.owner)
	together := newSets(n)
	var apart []moved
	since, before, after := endless(n, -1), endless(n, -1), endless(n, 1) // start and end of what was observed last before the moment, and the end of the first after it
	early := endless(n, -1)                                               // that start, or the one on the other side of the series if that is longer ago
	slack := math.Abs(x.shift) + jumpLeast + fastest*j.longest()          // by which a time on the clock of the job may be wrong yet
	side := 1
	if math.Abs(x.shift) < jumpClear {
		side = jumpSide
	}
	var left, right []int64
	j.eachSeries(o, func(s *series) {
		lo, hi := s.find(o, x.from-slack), s.find(o, x.to+slack)
		k, _ := s.steepest(o, lo, hi, side)
		if k == 0 {
			return // it does not see the moment
		}
		left, right = s.reach(o, k, left[:0], right[:0])
		switch shift := float64(stat.Median(right) - stat.Median(left)); {
		case math.Abs(math.Abs(shift)-math.Abs(x.shift)) < math.Abs(x.shift)/4:
			apart = append(apart, moved{s.a, s.b, shift})
			took := [...]float64{j.duration(o, s.obs[k-1][0]), j.duration(o, s.obs[k-1][1])}
			for i, node := range [...]int32{s.a, s.b} {
				if last := s.obs[k-1][i]; o.end[last] > before[node] {
					since[node], before[node] = o.end[last]-took[i], o.end[last]
					early[node] = o.end[last] - math.Max(took[0], took[1])
				}
				after[node] = math.Min(after[node], o.end[s.obs[k][i]])
			}
		case math.Abs(shift) < math.Abs(x.shift)/4 && lo >= side && hi <= len(s.obs)-side:
			together.join(s.a, s.b)
		}
	})
	at := make([]halt, n)
	for i := range at {
		at[i].from = math.Inf(1)
	}
	for _, set := range shiftsOf(together, apart) {
		whole := halt{math.Inf(-1), math.Inf(-1), math.Inf(1), set.shift} // as far as one of them knows
		begun := since
		if set.even {
			begun = early
		}
		for _, k := range set.nodes {
			if t := before[k] - o.x[k]; t > whole.from {
				whole.since, whole.from = begun[k]-o.x[k], t
			}
			whole.until = math.Min(whole.until, after[k]-o.x[k])
		}
		for _, k := range set.nodes {
			from := math.Max(math.Min(whole.from+o.x[k], after[k]-1), before[k]) + 1
			at[k] = halt{math.Min(whole.since+o.x[k], from), from, math.Max(whole.until+o.x[k], from), set.shift}
		}
	}
	return o.split(at)
}

// halt is where a node ends and another one of the same clock begins: from is the time from which on observations are those of the
// other one; the jump may be anywhere from since until until.
type halt struct {
	since, from, until float64
	shift              float64
}

func endless(n, sign int) []float64 { return slices.Repeat([]float64{math.Inf(sign)}, n) }

// duration is how long an observed operation took. What was under way when a clock jumped ends where it would have without: devices
// measure how long things take.
func (j *Job) duration(o *observations, i int32) float64 {
	c, _ := slices.BinarySearch(o.first, i+1)
	r := j.refs(int(o.cases[c-1]))[i-o.first[c-1]]
	op := &j.Members[r.Member].Ops[r.Op]
	return float64(op.End - op.Start)
}

// fastest is how fast clocks drift against each other at most.
const fastest = 100e-6

// longest is the longest window of a rank.
func (j *Job) longest() float64 {
	most := int64(0)
	for m := range j.Members {
		most = max(most, j.Members[m].Window[1]-j.Members[m].Window[0])
	}
	return float64(most)
}

// find is the first observation of a series from a time on.
func (s *series) find(o *observations, t float64) int {
	k, _ := slices.BinarySearchFunc(s.obs, t+o.x[s.a], func(p [2]int32, t float64) int {
		if o.end[p[0]] < t {
			return -1
		}
		return 1
	})
	return k
}

// shifted are nodes whose clocks moved by the same amount at the same moment.
type shifted struct {
	nodes []int32
	shift float64
	even  bool // as many nodes are taken to have stood still: it may have been them
}

// shiftsOf says which nodes moved against the others. As much as most nodes moved is taken for standing still; of several such
// amounts that of the lowest node.
func shiftsOf(together *sets, apart []moved) (list []shifted) {
	between := map[[2]int32][]int64{} // of sets: shifts of the second against the first
	for _, m := range apart {
		if a, b := together.find(m.a), together.find(m.b); a != b {
			between[[2]int32{a, b}] = append(between[[2]int32{a, b}], int64(m.shift))
			between[[2]int32{b, a}] = append(between[[2]int32{b, a}], -int64(m.shift))
		}
	}
	next := map[int32][]moved{}
	for key, v := range between {
		next[key[0]] = append(next[key[0]], moved{key[0], key[1], float64(stat.Median(v))})
	}
	nodes := map[int32][]int32{}
	for n := range together.up {
		root := together.find(int32(n))
		nodes[root] = append(nodes[root], int32(n))
	}
	known := map[int32]float64{}
	for n := range together.up { // roots are the lowest of their sets
		root := int32(n)
		if _, seen := known[root]; seen || next[root] == nil {
			continue
		}
		known[root] = 0
		var parts []shifted // of the sets that can be compared with this one
		for queue := []int32{root}; len(queue) > 0; queue = queue[1:] {
			a := queue[0]
			parts = join(parts, nodes[a], known[a])
			slices.SortFunc(next[a], func(p, q moved) int { return int(p.b - q.b) })
			for _, m := range next[a] {
				if _, seen := known[m.b]; !seen {
					known[m.b] = known[a] + m.shift
					queue = append(queue, m.b)
				}
			}
		}
		still := 0
		for i := range parts {
			if len(parts[i].nodes) > len(parts[still].nodes) {
				still = i
			}
		}
		for i := range parts {
			if i != still {
				list = append(list, shifted{parts[i].nodes, parts[i].shift - parts[still].shift, len(parts[i].nodes) == len(parts[still].nodes)})
			}
		}
	}
	return list
}

// join adds nodes to those that moved by about the same amount.
func join(parts []shifted, nodes []int32, shift float64) []shifted {
	for i := range parts {
		if math.Abs(parts[i].shift-shift) < jumpLeast/2 {
			parts[i].nodes = append(parts[i].nodes, nodes...)
			return parts
		}
	}
	return append(parts, shifted{nodes: slices.Clone(nodes), shift: shift})
}

// split gives what nodes observed from a moment on, which is one of each node, to nodes of their own. It reports whether there is
// such a node.
func (o *observations) split(at []halt) bool {
	sides := make([][2]int32, len(at)) // observations before and after
	for i, n := range o.node {
		if o.end[i] < at[n].from {
			sides[n][0]++
		} else {
			sides[n][1]++
		}
	}
	fresh := make([]int32, len(at))
	split := false
	for n := range sides {
		if fresh[n] = int32(n); sides[n][0] == 0 || sides[n][1] == 0 {
			continue
		}
		fresh[n] = int32(len(o.owner))
		split = true
		o.owner, o.begin = append(o.owner, o.owner[n]), append(o.begin, at[n])
		o.x, o.d = append(o.x, o.x[n]+at[n].shift), append(o.d, 0)
	}
	for i, n := range o.node {
		if o.end[i] >= at[n].from {
			o.node[i] = fresh[n]
		}
	}
	return split
}
