package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/par"
)

// match finds the instances of all channels and the clocks of the ranks. What steps and recorded numbers say comes
// first, and gives the clocks. By these the rest is matched: operations outside of whole steps. Ranks that are connected by none
// of this are put on one clock before that, where their ends say how.
func match(g *Gathered, channels []channel, o *Options) *Matched {
	j := &Matched{Gathered: *g}
	par.Each(len(channels), func(i int) { channels[i].bySteps(&j.Gathered) })
	j.install(channels)
	left := j.Matching.Unmatched > 0
	if left {
		j.enter()
		j.solveClocks(o.Trust)
		if j.Clocks.Components > 1 && !o.Trust {
			j.joinSets(channels)
		}
		par.Each(len(channels), func(i int) { channels[i].byClock(j) })
		j.install(channels)
	}
	channels = nil
	j.groupsByTimes()
	if o.Release != nil && !left {
		o.Release()
	}
	j.solveClocks(o.Trust) // holds most, so what it does not need is made later
	j.enter()
	j.undo()
	j.places()
	return j
}

// bySteps matches by recorded numbers, else by steps.
func (c *channel) bySteps(j *Gathered) {
	if len(c.parts) < 2 {
		return
	}
	lists := c.lists(j)
	if c.bySeq(lists) {
		return
	}
	c.rounds(lists, func(a, b *list) []pair { return alignSteps(a.items, b.items) }, ByOrder, partners)
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
func (j *Matched) install(channels []channel) {
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
func (j *Matched) enter() {
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

func (j *Matched) addInstance(c *channel, x *matched) {
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
