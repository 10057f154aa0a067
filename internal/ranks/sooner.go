package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// Less is how much of a run of a member goes: of what lies between two local times.
type Less func(member int32, r *Run, from, to int64) int64

// Sooner is by how much the job ends earlier, at most, when runs take less. It goes through the stubs of all ranks in order of time: what a
// stub saves, and what was saved where it ends, is saved at the operation that it belongs to; a collective begins when the last of its
// members does. Of all that a start waited for a stub knows only what came last. The others let it begin later than this, or as early, so that the truth
// is no more. Where records are missing it may be: what nothing explains is taken to stay as it is. Of a step, it is what is saved at its end.
//
// Collectives do not wait for members in not, if they have others: these are taken to come as early as the rest does.
func (j *Job) Sooner(less Less, not []int32) int64 {
	s := &sooner{j: j, less: less, not: make([]bool, len(j.Members)), low: make([][]int64, len(j.Members)), at: make([][]int64, len(j.Members)),
		of: slices.Repeat([]int64{unknown}, len(j.Instances))}
	for _, m := range not {
		s.not[m] = true
	}
	type start struct {
		at  int64
		ref Ref
	}
	var order []start
	for m := range j.Members {
		x := &j.Members[m]
		s.low[m], s.at[m] = make([]int64, len(x.Stubs)), slices.Repeat([]int64{unknown}, len(x.Stubs))
		for i := range x.Stubs {
			order = append(order, start{x.Clock.Global(x.from(int32(i))), Ref{int32(m), int32(i)}})
		}
	}
	slices.SortFunc(order, func(a, b start) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ref.Member, b.ref.Member), cmp.Compare(a.ref.Op, b.ref.Op))
	})
	for _, o := range order {
		s.stub(o.ref.Member, o.ref.Op)
	}
	if n := len(j.Stays); j.Step >= 0 && n > 0 {
		y := &j.Stays[n-1]
		return s.along(y.Member, y.Op, j.Window[1])
	}
	var last latest
	for m := range j.Members {
		x := &j.Members[m]
		last.add(x.End, s.at[m][len(x.Ops)], s.not[m])
	}
	return last.saved()
}

// unknown is what is saved where nobody has been yet.
const unknown = -1

// sooner is what is saved, ns.
type sooner struct {
	j    *Job
	less Less
	not  []bool
	low  [][]int64 // per member and stub: where it ends
	at   [][]int64 // where it begins, which is later; unknown at first
	of   []int64   // per instance: when the last one comes
}

// stub works out one stub, of which all that is earlier is worked out.
func (s *sooner) stub(member, stub int32) {
	m := &s.j.Members[member]
	low := int64(0)
	switch end, ref := m.Stubs[stub].End(); end {
	case critpath.AtOperation:
		low = s.ended(member, ref)
	case critpath.AtStub:
		low = s.inside(member, ref, m.To(stub))
	case critpath.AtStart:
		if n := m.Start - s.j.Window[0]; n > 0 {
			low = s.less(member, &Run{Event: trace.NoEvent, Kind: critpath.Unrecorded}, m.Window[0]-n, m.Window[0])
		}
	}
	s.low[member][stub] = low
	s.at[member][stub] = s.inside(member, stub, m.from(stub))
}

// inside is what is saved at a local time on the walk of a stub.
func (s *sooner) inside(member, stub int32, at int64) int64 {
	m := &s.j.Members[member]
	sum, to := s.low[member][stub], m.from(stub)
	lo := m.Window[0] - (m.Start - s.j.Window[0]) // where the window of the job begins
	runs := m.runs(stub)
	for i := range runs {
		from := to - runs[i].Dur
		if a, b := max(from, lo), min(to, at); a < b {
			sum += s.less(member, &runs[i], a, b)
		}
		to = from
	}
	return sum
}

// along is what is saved at a time of the job on the walk back from a stub, which stays on the rank.
func (s *sooner) along(member, stub int32, at int64) int64 {
	m := &s.j.Members[member]
	for {
		from := m.from(stub)
		to := from - (m.Clock.Global(from) - at)
		end, ref := m.Stubs[stub].End()
		switch {
		case to >= m.To(stub) || end == critpath.AtStart:
			return s.inside(member, stub, to)
		case end == critpath.AtOperation && to >= m.Ops[ref].Start:
			return s.ended(member, ref)
		}
		stub = ref // of an operation its own
	}
}

// ended is what is saved at the end of an operation.
func (s *sooner) ended(member, op int32) int64 {
	j := s.j
	id := j.Members[member].In[op]
	if id < 0 || !j.Instances[id].Solved {
		return max(s.at[member][op], 0)
	}
	if _, end := j.times(Ref{member, op}); j.Instances[id].Arrive >= end { // it did not wait for all
		return s.arrived(int(id), end)
	}
	if s.of[id] == unknown {
		s.of[id] = s.arrived(int(id), j.Instances[id].Arrive+1)
	}
	return s.of[id]
}

// arrived is what is saved when the last of those came that were there before a time.
func (s *sooner) arrived(id int, before int64) int64 {
	var last latest
	for _, r := range s.j.refs(id) {
		if at, _ := s.j.times(r); at < before && s.at[r.Member][r.Op] != unknown {
			last.add(at, s.at[r.Member][r.Op], s.not[r.Member])
		}
	}
	return last.saved()
}

// latest is when the last of several comes: as recorded, and with what is saved.
type latest struct {
	any, some          bool
	was, now, nowOfAll int64
}

// add is one that came at a time, and comes earlier now. With not nobody waits for it, if there are others.
func (l *latest) add(at, saved int64, not bool) {
	now := at - max(saved, 0)
	if !l.any || at > l.was {
		l.was = at
	}
	if !l.any || now > l.nowOfAll {
		l.nowOfAll = now
	}
	if !not && (!l.some || now > l.now) {
		l.some, l.now = true, now
	}
	l.any = true
}

func (l *latest) saved() int64 {
	if !l.some {
		return l.was - l.nowOfAll
	}
	return max(l.was-l.now, 0)
}
