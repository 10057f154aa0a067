package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// Tie is a stretch of the window in which a second path takes nearly as long as the critical one: little decides which of the two is
// critical, and what shortens the critical one alone there saves Margin and no more.
type Tie struct {
	From, To int64          // when the paths part and meet, ns of the trace
	Margin   int64          // by how much the second one is shorter, ns
	Class    critpath.Class // that holds most of the second path
	Most     trace.EventID  // the longest operation of the second path; NoEvent where it runs through threads alone
}

const (
	tieMargin = 100 // one in so many of the stretch: what a second path is shorter at most
	tieApart  = 20  // one in so many of the window: what the stretch has at least
	mostTies  = 3
)

// Ties finds the longest stretches of the recorded run that have a second path, in order of time. They do not overlap.
func (m *Model) Ties() (list []Tie) {
	m.brief(func(r *Result) {
		r.replay(m, &Scenario{})
		list = r.ties()
	})
	return list
}

// joint is where a path that is not the critical one comes back to it: through the source src of a point at.
type joint struct {
	at, src, from int32 // from: the point of the critical path that both come from; at is none at the end of the window
	start         int64 // of at
	margin        int64
	apart         int64
}

func (r *Result) ties() []Tie {
	m := r.m
	critical := make(Set, (len(m.at)+63)/64)
	for at := r.last.point; at > 0; at = r.before(at) {
		critical.Add(cdg.ActID(at))
	}
	meet := make([]int32, len(m.at)) // per point: the last of the critical path that it follows from
	for i := int32(1); i < int32(len(meet)); i++ {
		if meet[i] = i; !critical.Has(cdg.ActID(i)) {
			meet[i] = meet[r.before(i)]
		}
	}
	var found []joint
	try := func(at, src int32, start, arrived int64) {
		j := joint{at: at, src: src, from: meet[src], start: start, margin: start - arrived}
		j.apart = start - max(r.end[j.from], m.t0)
		if src > 0 && j.margin >= 0 && j.margin*tieMargin <= j.apart && j.apart*tieApart >= r.Window {
			found = append(found, j)
		}
	}
	for _, e := range m.ends {
		if e != r.last {
			try(none, e.point, m.t0+r.Window, r.end[e.point]+e.after)
		}
	}
	critical.Each(func(a cdg.ActID) {
		i := int32(a)
		start := r.startOf(i)
		if b := m.prev[i]; b != none && r.by[i] != none {
			try(i, b, start, r.end[b]+r.plan.cost.of(i))
		}
		for k := m.depFrom[i]; k < m.depFrom[i+1]; k++ {
			if d := &m.deps[k]; k != r.by[i] && d.flag&moving == 0 {
				try(i, d.src, start, max(r.end[d.src]+d.lagOf(m.far), r.startOf(d.src)))
			}
		}
	})
	slices.SortFunc(found, func(x, y joint) int {
		return cmp.Or(cmp.Compare(y.apart, x.apart), cmp.Compare(x.margin, y.margin), cmp.Compare(x.at, y.at), cmp.Compare(x.src, y.src))
	})
	var out []Tie
	for i := range found {
		j := &found[i]
		from := j.start - j.apart
		if !slices.ContainsFunc(out, func(t Tie) bool { return from < t.To && t.From < j.start }) {
			out = append(out, r.tie(j))
		}
		if len(out) == mostTies {
			break
		}
	}
	slices.SortFunc(out, func(x, y Tie) int { return cmp.Compare(x.From, y.From) })
	return out
}

// tie describes the second path of a joint.
func (r *Result) tie(j *joint) Tie {
	var sum [critpath.NumClasses]int64
	t, longest := Tie{From: j.start - j.apart, To: j.start, Margin: j.margin, Most: trace.NoEvent}, int64(0)
	r.walk(j.src, j.from, j.start-j.margin, t.From, func(ns int64, c critpath.Class) { sum[c] += ns })
	for at := j.src; at != j.from && at > 0; at = r.before(at) {
		if a := r.m.act[at]; a != cdg.NoAct && r.plan.cost.of(at) > longest {
			longest, t.Most = r.plan.cost.of(at), r.m.g.Acts[a].Event
		}
	}
	t.Class = critpath.BoundBy(&sum)
	return t
}

// startOf is when an operation begins, or a border of a thread is reached.
func (r *Result) startOf(i int32) int64 {
	if r.m.act[i] != cdg.NoAct {
		return r.end[i] - r.plan.cost.of(i)
	}
	return r.end[i]
}

// before is the point that a point follows from, 0 where there is none.
func (r *Result) before(i int32) int32 {
	if r.by[i] != none {
		return r.source(i)
	}
	return max(r.m.prev[i], 0)
}
