package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/par"
)

// matched is one instance while it is put together.
type matched struct {
	refs  []Ref
	token uint64
	end   int64 // for the order: on the job's clock as known then
	by    MatchBy
	mixed bool
}

// match finds the instances of all channels and the clocks of the ranks. What steps and recorded numbers say comes
// first, and gives the clocks. By these the rest is matched: operations outside of whole steps. Ranks that are connected by none
// of this are put on one clock before that, where their ends say how.
func (j *Job) match(channels []channel, o *Options) {
	trust := o.Trust
	par.Each(len(channels), func(i int) { channels[i].bySteps(j) })
	j.install(channels)
	if j.Matching.Unmatched == 0 {
		channels = nil
		j.groupsByTimes()
		if o.Release != nil {
			o.Release()
		}
		j.solveClocks(trust) // holds most, so what it does not need is made later
		j.enter()
		return
	}
	j.enter()
	j.solveClocks(trust)
	if j.Clocks.Components > 1 && !trust {
		j.joinSets(channels)
	}
	par.Each(len(channels), func(i int) { channels[i].byClock(j) })
	j.install(channels)
	j.groupsByTimes()
	j.enter()
	j.solveClocks(trust)
}

// bySteps matches by recorded numbers, else by steps.
func (c *channel) bySteps(j *Job) {
	if len(c.parts) < 2 {
		return
	}
	lists := c.lists(j)
	if c.bySeq(lists) {
		return
	}
	c.rounds(lists, func(a, b *list) []pair { return alignSteps(a.items, b.items) }, ByOrder, partners)
}

// rounds aligns the longest list with all others, then the longest of what is left, until nothing is. A list in which nothing fits to the
// longest is tried with some others that did: the longest may have been cut or have lost records. Pairs of all lists would be too many where no two
// fit: after some failures, a list has to fit one of a few samples before it is aligned with all.
func (c *channel) rounds(lists []list, align func(a, b *list) []pair, by MatchBy, others int) {
	left, alone := slices.Clone(lists), 0
	for {
		left = slices.DeleteFunc(left, func(l list) bool { return len(l.items) == 0 })
		if len(left) < 2 {
			return
		}
		ref := 0
		for i := range left {
			if len(left[i].items) > len(left[ref].items) {
				ref = i
			}
		}
		r := left[ref]
		left = slices.Delete(left, ref, ref+1)
		if alone >= manyAlone && !fitsSome(&r, left, align) {
			continue
		}
		c.found = slices.Grow(c.found, len(r.items))
		first := half{r, make([]int32, len(r.items))}
		fit, odd := []half{first}, []int(nil) // the longest and the first few that fit to it; those that do not
		for i := range left {
			if h, ok := c.join(&first, &left[i], align, by, len(left)+1); !ok {
				odd = append(odd, i)
			} else if len(fit) <= others {
				fit = append(fit, h)
			}
		}
		if len(odd) == len(left) {
			alone++
		}
		for _, i := range odd {
			for k := range fit[1:] {
				if _, ok := c.join(&fit[1+k], &left[i], align, by, 0); ok {
					break
				}
			}
		}
	}
}

// join puts a list to the instances of another one, and leaves in it what is in none. An item of the other that is in no instance makes one for up to size ranks; none where
// that is 0.
func (c *channel) join(to *half, l *list, align func(a, b *list) []pair, by MatchBy, size int) (h half, some bool) {
	h = half{*l, make([]int32, len(l.items))}
	for _, p := range align(&to.of, l) {
		a, b := &to.of.items[p.a], &l.items[p.b]
		if to.made[p.a] == 0 && size > 0 {
			refs := append(make([]Ref, 0, size), Ref{to.of.member, a.op})
			to.made[p.a] = c.add(matched{refs: refs, by: by, token: a.token, end: a.end})
		}
		if n := to.made[p.a]; n > 0 {
			x := &c.found[n-1]
			x.refs = append(x.refs, Ref{l.member, b.op})
			h.made[p.b], some = n, true
		}
	}
	if some {
		l.items = without(l.items, h.made)
	}
	return h, some
}

// half is a list that was aligned with another.
type half struct {
	of   list
	made []int32 // per item: 1 + its instance
}

// partners is with how many lists one is tried that does not fit to the longest, where steps tell what fits.
const partners = 4

// manyAlone is how many lists may fit to no other before the next ones are tried with so many others only.
const manyAlone = 16

// fitsSome reports whether a list fits to one of a few that are spread over all others.
func fitsSome(r *list, all []list, align func(a, b *list) []pair) bool {
	for k := range manyAlone {
		at := k * len(all) / manyAlone
		if k > 0 && at == (k-1)*len(all)/manyAlone {
			continue
		}
		if len(align(r, &all[at])) > 0 {
			return true
		}
	}
	return false
}

// add keeps an instance and returns its number, counted from 1.
func (c *channel) add(x matched) int32 {
	c.found = append(c.found, x)
	return int32(len(c.found))
}

// without are the items of which none was made an instance. The list that they come from stays as it is.
func without(items []item, made []int32) []item {
	n := 0
	for _, m := range made {
		if m == 0 {
			n++
		}
	}
	rest := make([]item, 0, n)
	for k := range items {
		if made[k] == 0 {
			rest = append(rest, items[k])
		}
	}
	return rest
}

// bySeq matches by the numbers that were recorded, where all operations of a group have one. The two sides of
// point-to-point operations count on their own.
func (c *channel) bySeq(lists []list) bool {
	if c.low != NoRank {
		return false
	}
	at := map[int32]int{}
	var out []matched
	for i := range lists {
		l := &lists[i]
		last := int32(-1)
		for k := range l.items {
			x := &l.items[k]
			if x.seq <= last { // not recorded, or several operations of one number
				return false
			}
			last = x.seq
			n, ok := at[x.seq]
			if !ok {
				n = len(out)
				at[x.seq] = n
				out = append(out, matched{by: BySeq, token: x.token, end: int64(x.seq)})
			}
			out[n].refs = append(out[n].refs, Ref{l.member, x.op})
			if !alike(out[n].token, x.token) {
				out[n].mixed = true
			}
		}
	}
	c.found = slices.DeleteFunc(out, func(x matched) bool { return len(x.refs) < 2 })
	return true
}

// install makes the instances of the job from what the channels found.
func (j *Job) install(channels []channel) {
	n, refs := 0, 0
	for i := range channels {
		n += len(channels[i].found)
		for k := range channels[i].found {
			refs += len(channels[i].found[k].refs)
		}
	}
	j.Instances, j.Of, j.Matching = make([]Instance, 0, n), make([]Ref, 0, refs), Matching{}
	for i := range channels {
		c := &channels[i]
		for k := range c.found {
			x := &c.found[k]
			slices.SortFunc(x.refs, func(a, b Ref) int { return cmp.Compare(a.Member, b.Member) })
			if m := &j.Members[x.refs[0].Member]; j.Clocks.Components > 0 { // they are known
				x.end = m.Clock.Global(m.Ops[x.refs[0].Op].End)
			}
		}
		slices.SortStableFunc(c.found, func(a, b matched) int {
			return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.refs[0].Member, b.refs[0].Member), cmp.Compare(a.refs[0].Op, b.refs[0].Op))
		})
		for k := range c.found {
			j.addInstance(c, &c.found[k])
		}
	}
	for m := range j.Members {
		j.Matching.Unmatched += len(j.Members[m].Ops)
	}
	j.Matching.Unmatched -= len(j.Of)
}

// enter tells each operation its instance.
func (j *Job) enter() {
	for m := range j.Members {
		x := &j.Members[m]
		if x.In == nil {
			x.In = make([]int32, len(x.Ops))
		}
		for i := range x.In {
			x.In[i] = -1
		}
	}
	for i := range j.Instances {
		for _, r := range j.refs(i) {
			j.Members[r.Member].In[r.Op] = int32(i)
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
	votes := 0
	for _, r := range x.refs { // a majority by cancelling: nearly all members agree
		op := &j.Members[r.Member].Ops[r.Op]
		switch {
		case op.Step == in.Step:
			votes++
		case votes == 0:
			in.Step, votes = op.Step, 1
		default:
			votes--
		}
		if k := j.Members[r.Member].Kinds[op.Kind].Coll; in.Coll == Other {
			in.Coll = k
		}
	}
	j.Of = append(j.Of, x.refs...)
	x.refs = slices.Clip(j.Of[in.First:]) // a large job needs the room
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
