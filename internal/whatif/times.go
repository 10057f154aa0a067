package whatif

import (
	"math/bits"
	"slices"

	"overlay/internal/cdg"
)

// moments are the times of threads that replays move: where stretches of their own time end. They are the same in all replays.
type moments struct {
	first      []int32   // CSR by lane
	at         []int64   // recorded, in order
	start, end []int32   // per activity of a thread: its moment, as find says it
	piece      []int32   // per piece: the moment at which it begins
	point      []int32   // per piece: the point at its start, or none
	inner      [][]int32 // per lane: points inside pieces
}

// findMoments looks up once what each replay would search for.
func (m *Model) findMoments() *moments {
	g := m.g
	x := &moments{first: make([]int32, len(g.Lanes)+1), at: make([]int64, 0, len(m.parts)+len(g.Lanes)), inner: make([][]int32, len(g.Lanes)),
		start: make([]int32, m.firstOp), end: make([]int32, m.firstOp), piece: make([]int32, len(g.Pieces)), point: make([]int32, len(g.Pieces))}
	for l := range g.Lanes {
		lane, list := &g.Lanes[l], m.border[l]
		x.first[l] = int32(len(x.at))
		if lane.Stream {
			continue
		}
		if len(list) > 0 {
			x.at = append(x.at, m.at[list[0]])
			m.intervals(cdg.LaneID(l), func(_ int, _, to int64, _ int32) { x.at = append(x.at, to) })
		}
		from, at := x.first[l], x.at[x.first[l]:]
		var hint int32
		find := func(t int64) int32 { // the moment at a time, ^ the one behind it, or none where there are not two around it
			switch k := int32(lookUp(&hint, len(at), func(i int) bool { return at[i] >= t })); {
			case t <= m.t0 || int(k) == len(at):
			case at[k] == t:
				return from + k
			case k > 0:
				return ^(from + k)
			}
			return none
		}
		for a := lane.First; a < lane.Limit; a++ {
			x.start[a] = find(g.Acts[a].Start)
			near := hint // what begins next does so soon after this begins
			x.end[a], hint = find(g.Acts[a].End), near
		}
		hint = 0
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			t := g.Pieces[i].Start
			for len(list) > 0 && m.at[list[0]] < t {
				x.inner[l] = append(x.inner[l], list[0])
				list = list[1:]
			}
			x.piece[i], x.point[i] = find(t), none
			if len(list) > 0 && m.at[list[0]] == t {
				x.point[i], list = list[0], list[1:]
			}
		}
		x.inner[l] = append(x.inner[l], list...)
	}
	x.first[len(g.Lanes)] = int32(len(x.at))
	return x
}

// Times tells when each recorded moment of a thread, and each activity, comes in the simulated run.
type Times struct {
	r    *Result
	of   *moments
	then []int64 // per moment
}

// Times works out the times of all activities.
func (r *Result) Times() *Times { return r.times(nil) }

// times works them out in the room of earlier ones.
func (r *Result) times(room []int64) *Times {
	m, p, x := r.m, &r.plan, r.m.moments()
	then := slices.Grow(room[:0], len(x.at))[:len(x.at)]
	k := 0
	for l, list := range m.border {
		if len(list) == 0 {
			continue
		}
		now := r.end[list[0]]
		then[k] = now
		for i := m.partFirst[l]; i < m.partFirst[l+1]; i++ {
			k++
			part := m.parts[i]
			if part.time&lastPart != 0 {
				list = list[1:]
				now = r.end[list[0]]
			} else {
				now += p.partOf(part.act, m.partNS(i))
			}
			then[k] = now
		}
		k++
	}
	return &Times{r, x, then}
}

// Thread is when a thread comes to what it recorded at a time. What lies before the window stays; what lies behind it
// moves with its end.
func (t *Times) Thread(l cdg.LaneID, at int64) int64 {
	m, x := t.r.m, t.of
	first, limit := x.first[l], x.first[l+1]
	switch {
	case at <= m.t0:
		return at
	case first == limit:
		return t.behind(at)
	case at <= x.at[first]:
		return t.then[first] - (x.at[first] - at)
	case at > x.at[limit-1]:
		return max(t.then[limit-1], t.behind(at))
	}
	n, found := slices.BinarySearch(x.at[first:limit], at)
	k := first + int32(n)
	if !found {
		k = ^k
	}
	return t.moment(k, l, at)
}

// moment is Thread of what moments.find has found.
func (t *Times) moment(k int32, l cdg.LaneID, at int64) int64 {
	switch {
	case k >= 0:
		return t.then[k]
	case k == none:
		return t.Thread(l, at)
	}
	x, k := t.of, ^k
	hi, lo := bits.Mul64(uint64(at-x.at[k-1]), uint64(t.then[k]-t.then[k-1])) // in between: in proportion
	q, _ := bits.Div64(hi, lo, uint64(x.at[k]-x.at[k-1]))
	return t.then[k-1] + int64(q)
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
	if a < m.firstOp {
		return t.moment(t.of.start[a], act.Lane, act.Start), t.moment(t.of.end[a], act.Lane, act.End)
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
