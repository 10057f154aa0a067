package whatif

import (
	"math/bits"
	"sort"

	"overlay/internal/cdg"
)

// Times tells when each recorded moment of a thread, and each activity, comes in the simulated run.
type Times struct {
	r     *Result
	first []int32 // CSR by lane: where pieces begin and points lie, in order
	knots []knot
	near  int // which knot of its thread the last moment came before, but for ends: one goroutine asks at a time
}

// knot is a recorded moment of a thread and when it comes then.
type knot struct{ at, then int64 }

// Times works out the times of all activities.
func (r *Result) Times() *Times {
	m := r.m
	t := &Times{r: r, first: make([]int32, len(m.g.Lanes)+1), knots: make([]knot, 0, len(m.parts)+len(m.g.Lanes))}
	for l := range m.g.Lanes {
		t.first[l] = int32(len(t.knots))
		list := m.border[l]
		if len(list) == 0 {
			continue
		}
		now, k := r.end[list[0]], int(m.partFirst[l])
		t.knots = append(t.knots, knot{m.at[list[0]], now})
		m.intervals(cdg.LaneID(l), func(_ int, _, to int64, end int32) {
			now += r.plan.partOf(m.parts[k].act, m.partNS(int32(k)))
			if k++; end != none {
				now = r.end[end]
			}
			t.knots = append(t.knots, knot{to, now})
		})
	}
	t.first[len(m.g.Lanes)] = int32(len(t.knots))
	return t
}

// Thread is when a thread comes to what it recorded at a time. What lies before the window stays; what lies behind it
// moves with its end.
func (t *Times) Thread(l cdg.LaneID, at int64) int64 {
	m := t.r.m
	knots := t.knots[t.first[l]:t.first[l+1]]
	switch {
	case at <= m.t0:
		return at
	case len(knots) == 0:
		return t.behind(at)
	case at <= knots[0].at:
		return knots[0].then - (knots[0].at - at)
	}
	last := knots[len(knots)-1]
	if at > last.at {
		return max(last.then, t.behind(at))
	}
	i, step := t.near, 1 // most moments are asked for in order
	if i >= len(knots) || i > 0 && knots[i-1].at >= at {
		i = 0
	}
	for ; i+step < len(knots) && knots[i+step].at < at; step *= 2 {
		i += step
	}
	i += sort.Search(min(step, len(knots)-1-i), func(k int) bool { return knots[i+k].at >= at })
	t.near = i
	x, y := knots[i-1], knots[i]
	if at == y.at {
		return y.then
	}
	hi, lo := bits.Mul64(uint64(at-x.at), uint64(y.then-x.then)) // in between: in proportion
	q, _ := bits.Div64(hi, lo, uint64(y.at-x.at))
	return x.then + int64(q)
}

// behind is when something comes that was recorded after the window.
func (t *Times) behind(at int64) int64 {
	if at < t.r.m.t1 {
		return at
	}
	return at - t.r.Saved()
}

// Act is when an activity starts and ends.
func (t *Times) Act(a cdg.ActID) (start, end int64) {
	r, m := t.r, t.r.m
	act := &m.g.Acts[a]
	if !m.g.Lanes[act.Lane].Stream {
		start = t.Thread(act.Lane, act.Start)
		near := t.near // what begins next does so soon after this begins
		end, t.near = t.Thread(act.Lane, act.End), near
		return start, end
	}
	p := m.pointOf(a)
	switch {
	case p != none && act.Start <= m.t0:
		return act.Start, r.end[p]
	case p != none:
		return r.end[p] - r.plan.cost.of(p), r.end[p]
	case act.End <= m.t0:
		return act.Start, act.End
	}
	return t.behind(act.Start), t.behind(act.End)
}
