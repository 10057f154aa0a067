package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/par"
)

// matched is one instance while it is put together.
type matched struct {
	refs  []Ref
	by    MatchBy
	order int // in its channel
	mixed bool
}

// match finds the instances of all channels.
func (j *Job) match(channels []channel) {
	for m := range j.Members {
		j.Members[m].In = slices.Repeat([]int32{-1}, len(j.Members[m].Ops))
	}
	found := make([][]matched, len(channels))
	ambiguous := make([]int, len(channels))
	par.Each(len(channels), func(i int) {
		found[i], ambiguous[i] = channels[i].match()
	})
	n, refs := 0, 0
	for i := range found {
		n += len(found[i])
		for k := range found[i] {
			refs += len(found[i][k].refs)
		}
	}
	j.Instances, j.Of = make([]Instance, 0, n), make([]Ref, 0, refs)
	for i := range found {
		for k := range found[i] {
			j.addInstance(&channels[i], &found[i][k])
		}
		j.Matching.Ambiguous += ambiguous[i]
		found[i] = nil
	}
	for m := range j.Members {
		for _, in := range j.Members[m].In {
			if in < 0 {
				j.Matching.Unmatched++
			}
		}
	}
}

func (j *Job) addInstance(c *channel, x *matched) {
	first := x.refs[0]
	s := j.Members[first.Member].Summary
	in := Instance{Group: c.group, First: int32(len(j.Of)), N: int32(len(x.refs)), Kind: s.Ops[first.Op].Kind, Step: -1, By: x.by}
	in.Coll = s.Kinds[in.Kind].Coll
	size := j.Groups[c.group].Size
	if c.low != NoRank {
		size = 2
	}
	in.Missing = max(int32(size)-in.N, 0)
	votes := map[int32]int{}
	for _, r := range x.refs {
		op := &j.Members[r.Member].Ops[r.Op]
		votes[op.Step]++
		if v := votes[op.Step]; v > votes[in.Step] || v == votes[in.Step] && op.Step > in.Step {
			in.Step = op.Step
		}
		if k := j.Members[r.Member].Kinds[op.Kind].Coll; in.Coll == Other {
			in.Coll = k
		}
		j.Members[r.Member].In[r.Op] = int32(len(j.Instances))
	}
	j.Of = append(j.Of, x.refs...)
	j.Instances = append(j.Instances, in)
	j.Matching.Instances++
	j.Matching.By[x.by]++
	if in.Missing == 0 {
		j.Matching.Complete++
	}
	if x.mixed {
		j.Matching.Tokens++
	}
}

// match finds the instances of a channel, in the order of the longest list. The second result counts operations that
// could be matched in two ways.
func (c *channel) match() ([]matched, int) {
	if len(c.lists) < 2 {
		return nil, 0
	}
	if out, ok := c.bySeq(); ok {
		return out, 0
	}
	left := slices.Clone(c.lists)
	var out []matched
	ambiguous := 0
	for {
		left = slices.DeleteFunc(left, func(l list) bool { return len(l.items) == 0 })
		if len(left) < 2 {
			break
		}
		ref := 0
		for i := range left {
			if len(left[i].items) > len(left[ref].items) {
				ref = i
			}
		}
		r := left[ref]
		left = slices.Delete(left, ref, ref+1)
		made := make([]int32, len(r.items)) // per item of ref: 1 + its instance
		for i := range left {
			l := &left[i]
			res := align(r.items, l.items)
			ambiguous += res.ambiguous
			taken := make([]bool, len(l.items))
			for _, p := range res.pairs {
				a, b := &r.items[p.a], &l.items[p.b]
				if made[p.a] == 0 {
					out = append(out, matched{refs: []Ref{{r.member, a.op}}, by: res.by, order: int(p.a)})
					made[p.a] = int32(len(out))
				}
				x := &out[made[p.a]-1]
				x.refs = append(x.refs, Ref{l.member, b.op})
				x.by = max(x.by, res.by)
				taken[p.b] = true
			}
			rest := l.items[:0:0]
			for k := range l.items {
				if !taken[k] {
					rest = append(rest, l.items[k])
				}
			}
			l.items = rest
		}
	}
	for i := range out {
		slices.SortFunc(out[i].refs, func(a, b Ref) int { return cmp.Compare(a.Member, b.Member) })
	}
	slices.SortStableFunc(out, func(a, b matched) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.refs[0].Member, b.refs[0].Member), cmp.Compare(a.refs[0].Op, b.refs[0].Op))
	})
	return out, ambiguous
}

// bySeq matches by the numbers that were recorded, where all operations of a group have one. The two sides of
// point-to-point operations count on their own.
func (c *channel) bySeq() ([]matched, bool) {
	if c.low != NoRank {
		return nil, false
	}
	at := map[int32]int{}
	var out []matched
	var tokens []uint64
	for i := range c.lists {
		l := &c.lists[i]
		last := int32(-1)
		for k := range l.items {
			x := &l.items[k]
			if x.seq <= last { // not recorded, or several operations of one number
				return nil, false
			}
			last = x.seq
			n, ok := at[x.seq]
			if !ok {
				n = len(out)
				at[x.seq] = n
				out = append(out, matched{by: BySeq, order: int(x.seq)})
				tokens = append(tokens, x.token)
			}
			out[n].refs = append(out[n].refs, Ref{l.member, x.op})
			if !alike(tokens[n], x.token) {
				out[n].mixed = true
			}
		}
	}
	out = slices.DeleteFunc(out, func(x matched) bool { return len(x.refs) < 2 })
	slices.SortFunc(out, func(a, b matched) int { return cmp.Compare(a.order, b.order) })
	return out, true
}
