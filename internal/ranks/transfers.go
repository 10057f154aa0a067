package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// How badly two sides of a transfer fit, in units of the noise of ends: the sum of what their ends and what their times differ by.
const (
	pairFit  = 16.0 // more is never a pair
	pairLike = 3.0  // times that of the pairs in the middle
	aloneGap = 2.0  // by which any other side fits worse that has none of its own
)

// pairGap is by which two pairs of so many transfers fit worse when they change sides: three times what chance does to sides that
// do the same at the same time.
func pairGap(n int) float64 { return math.Exp(1.6 / math.Sqrt(float64(n))) }

// side is the transfers of a rank with one other, of which no more is known than the place in their group, if that.
type side struct {
	part
	places uint32 // of both in their group, as the token says them; 0 when not known
}

// pairing is two sides and how well they fit.
type pairing struct {
	a, b int
	fit  float64
	n    int // transfers in it
}

// pairTransfers finds for transfers of which the other side is not named which two belong together. Each pair of ranks has
// a stream of its own on either rank, with any number. Both sides end together, and both take as long from the
// moment at which the later one started. Ranks that do the same side by side fit nearly as well: so all are paired at once, from
// the best on, and those stay without that would fit about as well the other way round.
func (j *Job) pairTransfers(sides []side) []channel {
	var list []pairing
	for b := range sides {
		for a := range b {
			if sides[a].member != sides[b].member && (sides[a].places == sides[b].places || sides[a].places == 0 || sides[b].places == 0) {
				list = append(list, pairing{a: a, b: b})
			}
		}
	}
	par.Each(len(list), func(i int) {
		c := j.pairOf(sides, &list[i], -1)
		l := c.lists(j)
		list[i].fit, list[i].n = transferFit(l[0].items, l[1].items)
	})
	list = slices.DeleteFunc(list, func(x pairing) bool { return x.fit > pairFit })
	slices.SortStableFunc(list, func(x, y pairing) int { return cmp.Compare(x.fit, y.fit) })
	var out []channel
	pairs, doubtful := clearPairs(list, len(sides))
	for _, x := range doubtful {
		out = append(out, channel{low: NoRank, high: NoRank, ambiguous: len(sides[x.a].ops) + len(sides[x.b].ops)})
	}
	for _, x := range pairs {
		at := int32(len(j.Groups))
		c := j.pairOf(sides, &x, at)
		j.Groups = append(j.Groups, JobGroup{Name: "transfers", By: "transfers", Size: 2, Ranks: []Rank{c.low, c.high}, Ops: len(c.parts[0].ops) + len(c.parts[1].ops)})
		out = append(out, c)
	}
	return out
}

// pairOf is the channel of two sides.
func (j *Job) pairOf(sides []side, x *pairing, group int32) channel {
	a, b := sides[x.a].part, sides[x.b].part
	if b.member < a.member {
		a, b = b, a
	}
	return channel{group: group, low: j.Members[a.member].Rank, high: j.Members[b.member].Rank, parts: []part{a, b}}
}

// clearPairs takes from the best pairing on what is free, and keeps of it what fits as the others do and clearly worse in any other way. The
// rest of it is doubtful. The list is sorted by fit.
func clearPairs(list []pairing, sides int) (pairs, doubtful []pairing) {
	mate := slices.Repeat([]int{-1}, sides)
	fit := map[[2]int]float64{}
	var taken []pairing
	for _, x := range list {
		fit[[2]int{x.a, x.b}], fit[[2]int{x.b, x.a}] = x.fit, x.fit
		if mate[x.a] < 0 && mate[x.b] < 0 {
			mate[x.a], mate[x.b] = x.b, x.a
			taken = append(taken, x)
		}
	}
	if len(taken) == 0 {
		return nil, nil
	}
	of := func(a, b int) float64 {
		if f, ok := fit[[2]int{a, b}]; ok {
			return f
		}
		return math.Inf(1)
	}
	usual := max(taken[len(taken)/2].fit, 0.7)
	doubt := make([]bool, sides)
	for _, y := range list {
		c, d := mate[y.a], mate[y.b]
		switch {
		case c == y.b:
			doubt[y.a] = doubt[y.a] || y.fit > pairLike*usual
		case c < 0: // then d has one: else the two were a pair
			doubt[y.b] = doubt[y.b] || y.fit < aloneGap*of(y.b, d)
		case d < 0:
			doubt[y.a] = doubt[y.a] || y.fit < aloneGap*of(y.a, c)
		case y.fit+of(c, d) < pairGap(y.n)*(of(y.a, c)+of(y.b, d)):
			doubt[y.a], doubt[y.b] = true, true
		}
	}
	for _, x := range taken {
		if doubt[x.a] || doubt[x.b] {
			doubtful = append(doubtful, x)
		} else {
			pairs = append(pairs, x)
		}
	}
	return pairs, doubtful
}

// transferFit is how far apart the ends of two ranks' transfers lie, and by how much it differs how long they take from the
// later start, in units of the noise of ends: the mean of the nine tenths that fit best. Infinite where they cannot be aligned. The
// second result is how many were.
func transferFit(a, b []item) (float64, int) {
	pairs := alignSteps(a, b)
	if pairs == nil {
		pairs, _ = alignVotes(a, b)
	}
	if len(pairs) < manyItems {
		return math.Inf(1), len(pairs)
	}
	x := &aligner{a: a, b: b}
	ends, took := make([]int64, len(pairs)), make([]int64, len(pairs))
	for i, p := range pairs {
		u, v := &a[p.a], &b[p.b]
		apart := x.diff(p) - x.near(pairs, i)
		ends[i] = abs(apart)
		if int64(v.dur)-apart < int64(u.dur) { // a started first: to its end from the start of b
			took[i] = int64(v.dur) - apart
		} else {
			took[i] = int64(u.dur) + apart
		}
	}
	mid := stat.Median(slices.Clone(took))
	for i := range took {
		took[i] = abs(took[i] - mid)
	}
	return (trimmed(ends) + trimmed(took)) / endNoise, len(pairs)
}

// trimmed sorts the values and returns the mean of the lowest nine tenths.
func trimmed(v []int64) float64 {
	slices.Sort(v)
	v = v[:(9*len(v)+9)/10]
	sum := int64(0)
	for _, x := range v {
		sum += x
	}
	return float64(sum) / float64(len(v))
}
