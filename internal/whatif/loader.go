package whatif

import (
	"sort"

	"overlay/internal/cdg"
)

// asking is a gap of a thread that pins batches of a data loader, and ends after another thread asked for a batch.
type asking struct {
	lane cdg.LaneID // of the thread that asked
	end  int64      // of the gap: until then the slice that waits for the batch did its own work
}

// findAsked finds the gaps of pinning threads that end because a batch was asked for, by the piece that ends them. Two
// things can end such a gap, and a trace does not record which: the batch came at the rate of worker processes, whoever
// waits for it, or a time after the loop asked. Where the thread had idled for longer before than after the loop began to wait, and
// where this is its first work, it is taken to have been asked; the range of an answer has the other reading too.
func (b *modelBuilder) findAsked() {
	g := b.g
	b.asked = map[int32]asking{}
	var waits []cdg.ActID // slices that wait for a batch, by thread and time
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; !lane.Stream && a < lane.Limit; a++ {
			if g.WaitsForLoader(a) && (g.Parent[a] == cdg.NoAct || !g.WaitsForLoader(g.Parent[a])) {
				waits = append(waits, a)
			}
		}
	}
	if len(waits) == 0 {
		return
	}
	for l := range g.Lanes {
		if g.Lanes[l].Stream || !g.Pins(cdg.LaneID(l)) {
			continue
		}
		first := g.PieceFirst[l]
		for i := first; i < g.PieceFirst[l+1]; i++ {
			id, from, t := g.Pieces[i].Begun, b.m.t0, g.Pieces[i].Start
			if i > first {
				from = max(from, g.Pieces[i-1].Start)
			}
			if id == cdg.NoWait || g.Waits[id].From != cdg.NoAct || t <= b.m.t0 || t > b.m.t1 {
				continue
			}
			if a := askedBy(g, waits, cdg.LaneID(l), t); a != cdg.NoAct {
				x := &g.Acts[a]
				if i > first && 2*(t-x.Start) > t-from {
					continue
				}
				b.asked[i] = asking{x.Lane, t}
				b.start.Add(cdg.ActID(max(i-1, first)))
				b.start.Add(cdg.ActID(i))
				b.mark(x.Lane, t)
			}
		}
	}
}

// askedBy is the slice of another thread of the process that waits for a batch at t, or NoAct.
func askedBy(g *cdg.Graph, waits []cdg.ActID, lane cdg.LaneID, t int64) cdg.ActID {
	for k := 0; k < len(waits); {
		l := g.Acts[waits[k]].Lane
		n := k + sort.Search(len(waits)-k, func(i int) bool { return g.Acts[waits[k+i]].Lane > l })
		j := k + sort.Search(n-k, func(i int) bool { return g.Acts[waits[k+i]].Start >= t }) - 1
		if j >= k && l != lane && g.Lanes[l].Proc == g.Lanes[lane].Proc && g.Acts[waits[j]].End >= t {
			return waits[j]
		}
		k = n
	}
	return cdg.NoAct
}

// onRequest is what a piece that begins at t waited for, if that is that a batch was asked for.
func (b *modelBuilder) onRequest(piece int32, t int64) (dep, bool) {
	x, ok := b.asked[piece]
	if !ok || x.end != t {
		return dep{}, false
	}
	b.m.asks = true
	return dep{src: b.borderAt(x.lane, t), wait: none, rule: cdg.Untraced, kind: gapDelay, flag: bound | onRequest | silent}, true
}

// handedIn returns the points at which a slice that waits for a batch goes on because another thread handed it over.
func (m *Model) handedIn(a cdg.ActID) (points []int32) {
	if a >= m.firstOp || !m.g.WaitsForLoader(a) {
		return nil
	}
	act := &m.g.Acts[a]
	list := m.border[act.Lane]
	first := sort.Search(len(list), func(i int) bool { return m.at[list[i]] > act.Start })
	for _, p := range list[first:] {
		if m.at[p] > act.End {
			break
		}
		for _, d := range m.deps[m.depFrom[p]:m.depFrom[p+1]] {
			if d.rule == cdg.Handoff {
				points = append(points, p)
			}
		}
	}
	return points
}
