package replay

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/ranks"
)

// Run is a job as a question would have had it: a strip for each member, on the job's clock.
type Run struct {
	Name string
	Answer
	Strips []ranks.Strip // by member
}

// Replayed replays a job, and shows it: all members, or where shown has some, these. Of own work the recorded strip says what it is; the operations around it say where it comes to lie.
func (m *Model) Replayed(x Scenario, shown ...int32) Run {
	m = m.asked(&x)
	then := m.replay(x.Ask)
	defer m.runs.Put(then)
	r := Run{Name: x.Name, Answer: m.answerOf(then)}
	for p := range then.starts { // from here on these are moments
		then.starts[p] += m.start(int32(p))
	}
	for i := range then.came {
		then.came[i] += m.stops[i].came
	}
	r.Strips = make([]ranks.Strip, len(m.Job.Members))
	for i := range r.Strips {
		if len(shown) == 0 || slices.Contains(shown, int32(i)) {
			r.Strips[i] = m.strip(int32(i), then)
		}
	}
	return r
}

// strip is that of a member.
func (m *Model) strip(member int32, run *run) (out ranks.Strip) {
	first, last := m.first[member], m.first[member+1]-1
	x := &m.Job.Members[member]
	type moment struct{ was, is int64 }
	moments := []moment{{x.Start, x.Start}} // of a rank whose window begins late nothing is known before
	var ops []int32
	for p := first; p < last; p++ {
		moments = append(moments, moment{m.start(p), run.starts[p]}, moment{m.end(p), m.end(p) + run.later[p]})
		ops = append(ops, p)
	}
	moments = append(moments, moment{m.end(last), m.end(last) + run.later[last]})
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.was, b.was) })
	for i := range moments[1:] { // streams overtake each other
		moments[i+1].is = max(moments[i+1].is, moments[i].is)
	}
	then := func(t int64) int64 {
		k := sort.Search(len(moments), func(i int) bool { return moments[i].was > t })
		switch {
		case k == 0:
			return t
		case k == len(moments):
			return moments[k-1].is
		}
		a, b := moments[k-1], moments[k]
		return a.is + int64(float64(t-a.was)*(float64(b.is-a.is)/float64(b.was-a.was)))
	}
	at := m.Job.Window[0]
	put := func(s ranks.StripPiece) {
		if s.Start = max(s.Start, at); s.Start < s.End {
			out, at = append(out, s), s.End
		}
	}
	was, next := m.Job.Strip(member), 0
	works := func(to int64) {
		for ; next < len(was); next++ {
			s := was[next]
			if s.Start, s.End = then(s.Start), then(s.End); s.Start >= to {
				return
			}
			more := s.End > to
			if s.End = min(s.End, to); s.Part == ranks.Works || s.Part == ranks.Late {
				s.Path, s.Most = false, s.End-s.Start
				put(s)
			}
			if more {
				return
			}
		}
	}
	slices.SortStableFunc(ops, func(a, b int32) int { return cmp.Compare(run.starts[a], run.starts[b]) })
	for _, p := range ops {
		start, end := run.starts[p], m.end(p)+run.later[p]
		works(start)
		s := ranks.StripPiece{Start: start, End: end, Instance: x.In[p-first], Part: ranks.Collective}
		if k := m.last[p]; k >= 0 {
			wait := s
			wait.End, wait.Part, wait.Whom = min(max(run.came[k], start), end), ranks.InWait, m.member[m.lastOf(p, run.starts)]
			put(wait)
			s.Start, s.Part = wait.End, ranks.Transfers
		}
		put(s)
	}
	works(m.end(last) + run.later[last])
	return out
}

// lastOf is the one of those for whom an operation waits that came last.
func (m *Model) lastOf(p int32, starts []int64) int32 {
	first := m.Job.Instances[m.Job.Members[m.member[p]].In[p-m.first[m.member[p]]]].First
	return slices.MaxFunc(m.of[first:m.stops[m.last[p]].to], func(a, b int32) int { return cmp.Compare(starts[a], starts[b]) })
}
