package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// guessGroups takes channels apart of which nothing is known but the stream: members whose operations end together are a
// group. Before PyTorch 2.3 no trace names groups.
func (j *Job) guessGroups(channels []channel) []channel {
	var out []channel
	var transfers []side
	var guessed []*channel
	var couples [][]couple
	for i := range channels {
		c := &channels[i]
		switch {
		case c.unnamed:
			for _, p := range c.parts {
				transfers = append(transfers, side{p, c.places})
			}
		case j.Groups[c.group].By != "stream":
			out = append(out, *c)
		default:
			guessed, couples = append(guessed, c), append(couples, couplesOf(c.lists(j)))
		}
	}
	limit := togetherLimit(couples)
	for i, c := range guessed {
		parts := partition(couples[i], len(c.parts), limit)
		old := j.Groups[c.group]
		for k, part := range parts {
			at := c.group
			if k > 0 {
				at = int32(len(j.Groups))
				j.Groups = append(j.Groups, JobGroup{})
			}
			g := JobGroup{Name: old.Name, By: "times", Size: len(part)}
			sub := channel{group: at, low: NoRank, high: NoRank}
			for _, l := range part {
				g.Ranks = append(g.Ranks, j.Members[c.parts[l].member].Rank)
				g.Ops += len(c.parts[l].ops)
				sub.parts = append(sub.parts, c.parts[l])
			}
			j.Groups[at] = g
			out = append(out, sub)
		}
	}
	return append(out, j.pairTransfers(transfers)...)
}

// How well two ranks' operations end together for them to be one group, in units of the noise that is expected.
const (
	togetherFit  = 3.0  // of all ranks in one group
	togetherGap  = 3.0  // by which ranks of another group fit worse
	togetherMost = 12.0 // of all ranks in one group, where the ends of all groups differ by more than is expected
)

// couple is two lists of a channel and how badly they fit.
type couple struct {
	a, b int
	fit  float64
}

// couplesOf are all of them, the best first.
func couplesOf(lists []list) []couple {
	n := len(lists)
	couples := make([]couple, 0, n*(n-1)/2)
	for a := range n {
		for b := a + 1; b < n; b++ {
			couples = append(couples, couple{a, b, 0})
		}
	}
	par.Each(len(couples), func(i int) {
		x := &couples[i]
		x.fit = togetherness(lists[x.a].items, lists[x.b].items)
	})
	slices.SortStableFunc(couples, func(x, y couple) int { return cmp.Compare(x.fit, y.fit) })
	return couples
}

// togetherLimit is how badly the ranks of one group may fit: four times as badly as the best of each channel do, in the middle.
func togetherLimit(couples [][]couple) float64 {
	var best []float64
	for _, list := range couples {
		if len(list) > 0 && !math.IsInf(list[0].fit, 1) {
			best = append(best, list[0].fit)
		}
	}
	if len(best) == 0 {
		return togetherFit
	}
	slices.Sort(best)
	return min(max(4*stat.Quantile(best, 0.5), togetherFit), togetherMost)
}

// partition takes the n lists of a channel apart, each part ascending. Members are joined from the best fitting pair on;
// that partition into equal parts holds after which the next pair fits much worse. All of them are one group only where
// they fit well and no smaller groups do.
func partition(couples []couple, n int, limit float64) [][]int {
	sets := newSets(n)
	var best []int32
	for i := range couples {
		x := &couples[i]
		if math.IsInf(x.fit, 1) {
			break
		}
		if !sets.join(int32(x.a), int32(x.b)) {
			continue
		}
		size, ok := sets.equal()
		if !ok || size < 2 {
			continue
		}
		next := math.Inf(1)
		for _, y := range couples[i+1:] {
			if sets.find(int32(y.a)) != sets.find(int32(y.b)) {
				next = y.fit
				break
			}
		}
		if size < n && next >= togetherGap*x.fit || size == n && best == nil && x.fit < limit {
			best = sets.all()
		}
		if size < n && best != nil {
			break
		}
	}
	if best == nil {
		return nil
	}
	var parts [][]int
	place := map[int32]int{}
	for i, root := range best {
		at, ok := place[root]
		if !ok {
			at = len(parts)
			place[root] = at
			parts = append(parts, nil)
		}
		parts[at] = append(parts[at], i)
	}
	return parts
}

// togetherness is how far apart the ends of the operations of two ranks lie, in units of what is expected within one
// group: that of the 70 % that fit best. Infinite where they cannot be aligned.
func togetherness(a, b []item) float64 {
	pairs := alignSteps(a, b)
	if pairs == nil {
		pairs, _ = alignVotes(a, b)
	}
	if len(pairs) < 2 {
		return math.Inf(1)
	}
	x := &aligner{a: a, b: b}
	fits := make([]float64, len(pairs))
	for i, p := range pairs {
		r := float64(abs(x.diff(p) - x.near(pairs, i)))
		fits[i] = r / (endNoise + 0.01*float64(x.shorter(p)))
	}
	slices.Sort(fits)
	return fits[min(len(fits)*7/10, len(fits)-1)]
}

// sets are disjoint sets of small numbers; the root of a set is its lowest member.
type sets struct{ up []int32 }

func newSets(n int) *sets {
	s := &sets{make([]int32, n)}
	for i := range s.up {
		s.up[i] = int32(i)
	}
	return s
}

func (s *sets) find(a int32) int32 {
	for s.up[a] != a {
		s.up[a] = s.up[s.up[a]]
		a = s.up[a]
	}
	return a
}

func (s *sets) join(a, b int32) bool {
	a, b = s.find(a), s.find(b)
	if a == b {
		return false
	}
	s.up[max(a, b)] = min(a, b)
	return true
}

// all are the roots of all members.
func (s *sets) all() []int32 {
	roots := make([]int32, len(s.up))
	for i := range roots {
		roots[i] = s.find(int32(i))
	}
	return roots
}

// equal is the size of the sets when all are of one size.
func (s *sets) equal() (int, bool) {
	count := make([]int, len(s.up))
	for i := range s.up {
		count[s.find(int32(i))]++
	}
	size := 0
	for _, n := range count {
		if n > 0 && size > 0 && n != size {
			return 0, false
		}
		size = max(size, n)
	}
	return size, true
}
