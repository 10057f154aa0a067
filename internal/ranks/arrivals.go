package ranks

import (
	"math"
	"slices"
)

// clocked says for each instance when its members came, who was last, and what each waited.
func clocked(m *Matched) Clocked {
	j := Clocked{*m}
	for m := range j.Members {
		x := &j.Members[m]
		x.Start, x.End = x.Clock.Global(x.Window[0]), x.Clock.Global(x.Window[1])
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		refs := j.refs(i)
		in.Solved = true
		for _, r := range refs[1:] {
			in.Solved = in.Solved && j.Members[r.Member].Clock.Component == j.Members[refs[0].Member].Clock.Component
		}
		if !in.Solved {
			j.byDuration(in, refs)
			continue
		}
		in.Arrive, in.Second = math.MinInt64, math.MinInt64
		end := int64(math.MaxInt64)
		for _, r := range refs {
			s, e := j.times(r)
			if s > in.Arrive {
				in.Last, in.Arrive, in.Second = r.Member, s, in.Arrive
			} else {
				in.Second = max(in.Second, s)
			}
			end = min(end, e)
		}
		in.Transfer = max(end-in.Arrive, 0)
		for _, r := range refs {
			in.Wait += j.Wait(in, r)
		}
	}
	return j
}

// byDuration fills in an instance of ranks whose clocks are not known against each other: who was shortest was last.
func (j *Clocked) byDuration(in *Instance, refs []Ref) {
	in.Transfer = math.MaxInt64
	for _, r := range refs {
		op := &j.Members[r.Member].Ops[r.Op]
		if d := op.End - op.Start; d < in.Transfer {
			in.Transfer, in.Last = d, r.Member
		}
	}
	for _, r := range refs {
		in.Wait += j.Wait(in, r)
	}
	in.Arrive, _ = j.times(j.refOf(in, in.Last))
	in.Second = in.Arrive
}

// times are start and end of an operation on the job's clock.
func (j *Matched) times(r Ref) (start, end int64) {
	m := &j.Members[r.Member]
	op := &m.Ops[r.Op]
	start = m.Clock.Global(op.Start)
	return start, max(m.Clock.Global(op.End), start)
}

// Wait is what a member waited in an instance.
func (j *Clocked) Wait(in *Instance, r Ref) int64 {
	if !in.Solved {
		op := &j.Members[r.Member].Ops[r.Op]
		return op.End - op.Start - in.Transfer
	}
	s, e := j.times(r)
	return min(max(in.Arrive-s, 0), e-s)
}

// refOf is the operation of a member in an instance.
func (j *Matched) refOf(in *Instance, member int32) Ref {
	refs := j.Of[in.First : in.First+in.N]
	for _, r := range refs {
		if r.Member == member {
			return r
		}
	}
	panic("ranks: internal error: a rank that is not in the instance")
}

// alikeKey is what collectives that take about the same time have in common.
type alikeKey struct {
	coll  Coll
	bytes int64
	size  int32
}

// keyOf is that of an operation.
func (j *Matched) keyOf(member int32, op *Op, size int32) alikeKey {
	k := &j.Members[member].Kinds[op.Kind]
	return alikeKey{k.Coll, max(k.In, k.Out), size}
}

// bestTransfers is for each kind of collective how long it takes when all are there: of complete instances the tenth part that is
// shortest.
func (j *Clocked) bestTransfers() map[alikeKey]int64 {
	all := map[alikeKey][]int64{}
	for i := range j.Instances {
		in := &j.Instances[i]
		if in.Missing > 0 || !in.Solved {
			continue
		}
		r := j.Of[in.First]
		key := j.keyOf(r.Member, &j.Members[r.Member].Ops[r.Op], in.N)
		all[key] = append(all[key], in.Transfer)
	}
	best := make(map[alikeKey]int64, len(all))
	for key, list := range all {
		slices.Sort(list)
		best[key] = list[len(list)/10]
	}
	return best
}
