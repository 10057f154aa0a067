package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// findEnds finds what the window waits for: the last of the lane that ended it in the recording, of the main
// thread, and of all that are tied to these by launches, hand-offs and waits between streams. Others run free beside
// them and may end later; they do not make the run longer. Of an annotation whose operations outlast it only what it did and launched
// counts: the CPU runs ahead, and does the work of what comes next meanwhile.
func (b *modelBuilder) findEnds() {
	g, m := b.g, b.m
	set := b.set
	b.lane = make([]cdg.LaneID, len(m.at))
	for l := range m.border {
		for _, x := range m.border[l] {
			b.lane[x] = cdg.LaneID(l)
		}
	}
	last := make([]end, len(g.Lanes)) // per lane: its last point
	latest := m.t0
	par.Each(len(g.Lanes), func(l int) { last[l] = b.lastPoint(cdg.LaneID(l)) })
	for l := range g.Lanes {
		if last[l].point != none {
			latest = max(latest, m.at[last[l].point])
			m.all = append(m.all, last[l].point)
		}
	}
	m.main = b.mainThread()
	main := map[cdg.LaneID]bool{b.set[m.main]: true}
	feeds := map[cdg.LaneID]bool{} // sets that a device works for
	for l := range g.Lanes {
		feeds[set[l]] = feeds[set[l]] || g.Lanes[l].Stream
	}
	working := false // something that works ends with the window, so threads that only sit in a frame do not count
	for l := range g.Lanes {
		p := last[l].point
		working = working || p != none && m.at[p] == latest && b.works(cdg.LaneID(l)) && !b.waitsAt(cdg.LaneID(l), latest)
	}
	for l := range g.Lanes {
		if p := last[l].point; p != none && m.at[p] == latest && (!working || b.works(cdg.LaneID(l)) && !b.waitsAt(cdg.LaneID(l), latest)) {
			main[b.set[l]] = true
		}
	}
	for l := range g.Lanes {
		p := last[l].point
		if p != none && !main[set[l]] && feeds[set[l]] && b.works(cdg.LaneID(l)) && 20*(latest-m.at[p]) > latest-m.t0 {
			m.done = append(m.done, p)
		}
		if p != none && main[set[l]] && (!working || b.works(cdg.LaneID(l))) {
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

// works reports whether a lane is a stream, or a thread with ops or calls.
func (b *modelBuilder) works(l cdg.LaneID) bool { return b.g.Lanes[l].Stream || b.g.BusyTime(l) > 0 }

// stopping is how long before the end of a recording frames end that were open when it stopped, ns.
const stopping = 100_000

// waitsAt reports whether a thread is in a frame that waits at a time: it is left in the middle of what it waits for, as threads that
// pin batches or send tokens are when recording stops, and nothing waits for the thread.
func (b *modelBuilder) waitsAt(l cdg.LaneID, t int64) bool {
	lane := &b.g.Lanes[l]
	for a := lane.First; a < lane.Limit && !lane.Stream; a++ {
		if act := &b.g.Acts[a]; act.End > t-stopping && act.Start < t-stopping { // few are, and events lie apart
			if e := &b.g.Trace.Events[act.Event]; e.Kind == trace.Python && cdg.WaitingFrame(b.g.Trace.Str(e.Name)) {
				return true
			}
		}
	}
	return false
}

// mainThread is the thread that carries the steps; without any, the one that launches most.
func (b *modelBuilder) mainThread() cdg.LaneID {
	g := b.g
	if len(g.Steps) > 0 {
		if a := g.ActOf[g.Steps[0].Event]; a != cdg.NoAct {
			return g.Acts[a].Lane
		}
	}
	most := cdg.LaneID(0)
	for l := range g.Lanes {
		if g.Launches(cdg.LaneID(l)) > g.Launches(most) {
			most = cdg.LaneID(l)
		}
	}
	return most
}

// launches ranks the lane of a point: how much its thread launches, below that streams.
func (b *modelBuilder) launches(p int32) int {
	if b.m.act[p] != cdg.NoAct {
		return -1
	}
	return b.g.Launches(b.lane[p])
}

// lastPoint is where what belongs to the window ends on a lane.
func (b *modelBuilder) lastPoint(l cdg.LaneID) end {
	g, m, own := b.g, b.m, b.ownEnd()
	lane := &g.Lanes[l]
	if !lane.Stream {
		if t := b.lastEnd(l, own); t > m.t0 {
			return end{point: b.borderAt(l, t)}
		}
		return end{point: none}
	}
	p, t := none, m.t0
	for a := lane.First; a < lane.Limit; a++ {
		if e := g.Acts[a].End; m.pointOf(a) != none && e <= m.t1 && e >= t && (own == m.t1 || b.launchedBy(a, own)) {
			p, t = m.pointOf(a), e
		}
	}
	return end{point: p}
}

// launchedBy reports whether an operation was launched in the window, at limit or before.
func (b *modelBuilder) launchedBy(a cdg.ActID, limit int64) bool {
	tr := b.g.Trace
	l := tr.Launch(b.g.Acts[a].Event)
	return l != trace.NoEvent && tr.Events[l].Start >= b.m.t0 && tr.Events[l].Start <= limit
}
