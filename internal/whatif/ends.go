package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
)

// findEnds finds what the window waits for: the last of the thread or stream that ended it in the recording, and of all
// that are tied to it by waits. In the whole trace also of other threads that launch work, and of their streams. Threads
// that run free beside those may end later; they do not make the run longer.
func (b *modelBuilder) findEnds() {
	g, m := b.g, b.m
	set := b.components()
	last := make([]end, len(g.Lanes)) // per lane: its last point
	latest := m.t0
	for l := range g.Lanes {
		last[l] = b.lastPoint(cdg.LaneID(l))
		if last[l].point != none {
			latest = max(latest, m.at[last[l].point])
			m.all = append(m.all, last[l].point)
		}
	}
	main := map[cdg.LaneID]bool{}
	for l := range g.Lanes {
		if p := last[l].point; p != none && m.at[p] == latest {
			main[set(cdg.LaneID(l))] = true
		}
	}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		p := last[l].point
		switch {
		case p == none:
		case main[set(cdg.LaneID(l))], m.wholeTrace() && (lane.Stream || g.Launches(cdg.LaneID(l)) > 0):
			e := end{point: p}
			if m.at[p] == latest {
				e.after = m.t1 - latest
			}
			m.ends = append(m.ends, e)
		}
	}
	// Of several that end together, the first is where the recorded path ends: threads, those that launch most.
	slices.SortStableFunc(m.ends, func(x, y end) int {
		return cmp.Or(cmp.Compare(m.at[y.point], m.at[x.point]), cmp.Compare(b.launches(y.point), b.launches(x.point)))
	})
	if len(m.ends) == 0 { // nothing ends in the window: it is over where it was
		m.ends = []end{{after: m.t1}}
	}
}

// launches ranks the lane of a point: how much its thread launches, below that streams.
func (b *modelBuilder) launches(p int32) int {
	if b.m.act[p] != cdg.NoAct {
		return -1
	}
	return b.g.Launches(b.lane[p])
}

// lastPoint is where a lane ends in the window.
func (b *modelBuilder) lastPoint(l cdg.LaneID) end {
	g, m := b.g, b.m
	lane := &g.Lanes[l]
	if !lane.Stream {
		if t := b.lastEnd(l); t > m.t0 {
			return end{point: m.borderAt(l, t)}
		}
		return end{point: none}
	}
	p, t := none, m.t0
	for a := lane.First; a < lane.Limit; a++ {
		if e := g.Acts[a].End; m.opPoint[a] != none && e <= m.t1 && e >= t {
			p, t = m.opPoint[a], e
		}
	}
	return end{point: p}
}

// components puts lanes that wait for each other into sets, and returns who stands for a lane's set.
func (b *modelBuilder) components() func(cdg.LaneID) cdg.LaneID {
	g, m := b.g, b.m
	of := make([]cdg.LaneID, len(g.Lanes))
	for l := range of {
		of[l] = cdg.LaneID(l)
	}
	find := func(l cdg.LaneID) cdg.LaneID {
		for of[l] != l {
			of[l] = of[of[l]]
			l = of[l]
		}
		return l
	}
	lane := make([]cdg.LaneID, len(m.at))
	b.lane = lane
	for l := range m.border {
		for _, x := range m.border[l] {
			lane[x.point] = cdg.LaneID(l)
		}
	}
	for i, a := range m.act {
		if a != cdg.NoAct {
			lane[i] = g.Acts[a].Lane
		}
	}
	for i := 1; i < len(m.at); i++ {
		for _, d := range m.deps[m.depFrom[i]:m.depFrom[i+1]] {
			if d.src > 0 {
				x, y := find(lane[i]), find(lane[d.src])
				of[max(x, y)] = min(x, y)
			}
		}
	}
	return find
}
