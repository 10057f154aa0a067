package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/stat"
)

// byClock matches what is left in a channel by ends on the job's clock: first with instances that lack the rank, then
// with each other.
func (c *channel) byClock(j *Matched) {
	if len(c.parts) < 2 {
		return
	}
	global := func(member int32, end int64) int64 {
		m := &j.Members[member]
		return m.Clock.Global(m.Window[0] + end)
	}
	left := false
	lists := c.lists(&j.Gathered)
	for i := range lists {
		left = left || len(lists[i].items) > 0
		for k := range lists[i].items {
			x := &lists[i].items[k]
			x.end = global(lists[i].member, x.end)
		}
		slices.SortStableFunc(lists[i].items, func(a, b item) int { return cmp.Compare(a.end, b.end) })
	}
	if !left {
		return
	}
	known := c.knownItems(j)
	for i := range lists {
		l := &lists[i]
		if len(l.items) == 0 {
			continue
		}
		var open []item // instances of the component without the rank
		for _, x := range known {
			refs := c.found[x.op].refs
			if j.Members[refs[0].Member].Clock.Component == j.Members[l.member].Clock.Component &&
				!slices.ContainsFunc(refs, func(r Ref) bool { return r.Member == l.member }) {
				open = append(open, x)
			}
		}
		x := &aligner{a: open, b: l.items, mad: j.Members[l.member].Clock.Error / 2}
		pairs, _ := x.gapped(0, int32(len(open)), 0, int32(len(l.items)), 0)
		taken := make([]int32, len(l.items))
		for _, p := range pairs {
			m := &c.found[open[p.a].op]
			m.refs = append(m.refs, Ref{l.member, l.items[p.b].op})
			m.by = ByTimes
			taken[p.b] = 1
		}
		l.items = without(l.items, taken)
	}
	rest := &channel{group: c.group, low: c.low, high: c.high}
	rest.rounds(lists, func(a, b *list) []pair {
		if j.Members[a.member].Clock.Component != j.Members[b.member].Clock.Component {
			return nil
		}
		x := &aligner{a: a.items, b: b.items, mad: max(j.Members[a.member].Clock.Error, j.Members[b.member].Clock.Error) / 2}
		pairs, _ := x.gapped(0, int32(len(a.items)), 0, int32(len(b.items)), 0)
		return pairs
	}, ByTimes, 0)
	c.found = append(c.found, rest.found...)
}

// knownItems are the instances of a channel as a list, by when they ended on the job's clock. Their op is the number of the
// instance.
func (c *channel) knownItems(j *Matched) []item {
	out := make([]item, 0, len(c.found))
	for i := range c.found {
		var ends []int64
		x := item{op: int32(i), steps: anyStep, dur: math.MaxUint32}
		low, high := anyStep.bounds()
		for _, r := range c.found[i].refs {
			s, e := j.times(r)
			ends = append(ends, e)
			x.dur = min(x.dur, shortened(e-s))
			l, h := j.Members[r.Member].stepsOf(&j.Members[r.Member].Ops[r.Op]).bounds()
			low, high = max(low, l), min(high, h)
		}
		switch {
		case low == high:
			x.steps = steps(low)
		case high < math.MaxInt32:
			x.steps = upTo(high)
		case low > 0:
			x.steps = fromOn(low)
		}
		x.end = stat.Median(ends)
		c.found[i].end = x.end
		x.token = c.found[i].token
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b item) int { return cmp.Compare(a.end, b.end) })
	return out
}
