package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
)

// layParts adds up the own time between the points of each thread. In a stretch at whose end the thread waited, only the
// least that a call takes by itself is its own.
func (b *modelBuilder) layParts() {
	g, m := b.g, b.m
	m.partFirst = make([]int32, len(g.Lanes)+1)
	room := len(g.Pieces) // each part ends with its piece or at a point
	for l := range m.border {
		room += len(m.border[l])
	}
	m.parts = make([]part, 0, room)
	for l := range g.Lanes {
		lane := cdg.LaneID(l)
		m.partFirst[l] = int32(len(m.parts))
		cost, gaps, idle := int64(0), int64(0), int64(0) // since the point before
		m.intervals(lane, func(piece int, from, to int64, end int32) {
			own, owner := to-from, g.Pieces[piece].Owner
			if end != none {
				if w := b.waitFor(lane, piece, to); w != cdg.NoWait {
					own = min(b.leastOf(&g.Waits[w], owner), to-from)
				} else if x, ok := b.asked[int32(piece+1)]; ok && x.end == to {
					own = 0
				} else if _, held := b.isHeld(end); held {
					own = min(b.g.Usual[cdg.LaunchCall].Median, to-from)
				}
			}
			cost += own
			switch {
			case owner == cdg.NoAct && b.waitsForWork(lane, piece):
				owner = idleGap
				idle += own
			case owner == cdg.NoAct:
				gaps += own
			}
			m.addPart(owner, own, end != none)
			if end == none { // stretches that go on belong to the next point
				return
			}
			if m.cost.set(end, cost); gaps > 0 {
				m.gaps = append(m.gaps, gap{gaps, end})
			}
			if idle > 0 {
				m.idle = append(m.idle, gap{idle, end})
			}
			cost, gaps, idle = 0, 0, 0
		})
	}
	m.partFirst[len(g.Lanes)] = int32(len(m.parts))
}

// waitsForWork reports whether a gap, which is a piece of its thread, is one in which a thread of a pool waited for its next round.
func (b *modelBuilder) waitsForWork(l cdg.LaneID, piece int) bool {
	next := piece + 1
	if next >= int(b.g.PieceFirst[l+1]) {
		return false
	}
	id := b.g.Pieces[next].Begun
	return id != cdg.NoWait && b.g.Waits[id].Note == cdg.Idle
}

// waitFor returns what a thread waited for in a piece until t; NoWait when its own time or untraced time went by.
func (b *modelBuilder) waitFor(l cdg.LaneID, piece int, t int64) cdg.WaitID {
	g := b.g
	if next := piece + 1; next < int(g.PieceFirst[l+1]) && g.Pieces[next].Start == t {
		if !b.real.Has(cdg.ActID(next)) {
			return cdg.NoWait
		}
		return g.Pieces[next].Begun
	}
	i, ok := slices.BinarySearchFunc(b.inside[l], t, func(i int32, t int64) int { return cmp.Compare(g.Inside[i].At, t) })
	if !ok {
		return cdg.NoWait
	}
	return g.Inside[b.inside[l][i]].Wait
}

// leastOf is how much of a stretch that ended with a wait is the call's own: what such calls take with nothing to wait for.
func (b *modelBuilder) leastOf(w *cdg.Wait, owner cdg.ActID) int64 {
	switch {
	case owner == cdg.NoAct || !b.g.Call(owner):
		return 0
	case w.Rule == cdg.Sync:
		return b.g.Usual[cdg.EmptyCall].Median
	case w.Rule == cdg.QueueFull:
		return b.g.Usual[cdg.LaunchCall].Median
	}
	return 0
}
