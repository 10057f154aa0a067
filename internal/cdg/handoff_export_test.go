package cdg

import (
	"fmt"
	"sort"

	"overlay/internal/trace"
)

// CheckHandoffs builds a graph and compares its hand-offs with a look at every thread at every border and at every
// point inside a piece. It returns how many there are.
func CheckHandoffs(tr *trace.Trace, o Options) (n int, err error) {
	b, err := layOut(tr, &o)
	if err != nil {
		return 0, err
	}
	g := b.applyRules()
	check := func(lane LaneID, piece int, t int64, id WaitID) error {
		from, owner := g.Window.Start, NoAct
		if piece >= 0 {
			from, owner = g.Pieces[piece].Start, g.Pieces[piece].Owner
			if t > g.Window.Start {
				from = max(from, g.Window.Start)
			}
		}
		if owner != NoAct && !g.Marker(owner) {
			return nil
		}
		if id != NoWait && g.Waits[id].Rule == PolledWait {
			return nil
		}
		to, h, want := b.handoffByAll(lane, owner, from, t)
		next := piece + 1
		if piece < 0 {
			next = int(g.PieceFirst[lane])
		}
		if b.enders != nil && t-from > handoffGap && next < int(g.PieceFirst[lane+1]) && g.Pieces[next].Start == t && piece >= 0 {
			here, waits := b.placeOf(lane, piece)
			for _, p := range b.enders[lane] {
				if at, good := p.endOf(from); good && waits && p.place == here && p.ends(at, from, t) && (!want || at > h) {
					to, h, want = p.lane, at, true
				}
			}
		}
		got := id != NoWait && g.Waits[id].Rule == Handoff
		if got {
			n++
		}
		if want && !got && h == t {
			if w := g.WaitAt(to, g.PieceAt(to, t), t); w != nil && w.Rule == Handoff && w.Lag == 0 {
				return nil // a circle, which was broken here
			}
		}
		if got != want || got && (g.Waits[id].At != h || g.Acts[g.Waits[id].From].Lane != to) {
			return fmt.Errorf("lane %d at %d: %v, wanted %v, lane %d at %d", lane, t, got, want, to, h)
		}
		return nil
	}
	for l := range g.Lanes {
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			piece := int(i) - 1
			if i == g.PieceFirst[l] {
				piece = -1
			}
			if err := check(LaneID(l), piece, g.Pieces[i].Start, g.Pieces[i].Begun); err != nil {
				return n, err
			}
		}
	}
	for _, x := range g.Inside {
		if err := check(x.Lane, g.PieceAt(x.Lane, x.At), x.At, x.Wait); err != nil {
			return n, err
		}
	}
	return n, nil
}

// handoffByAll is handoffAt by a look at every thread, as the rule is written.
func (b *builder) handoffByAll(lane LaneID, owner ActID, from, t int64) (to LaneID, h int64, ok bool) {
	d := b.d
	if t-from <= handoffGap {
		return NoLane, 0, false
	}
	try := func(p LaneID) {
		if at, good := b.endedWait(p, from, t); good && (!ok || at > h) {
			to, h, ok = p, at, true
		}
	}
	for _, p := range d.Partners[lane] {
		try(p)
	}
	if owner == NoAct {
		if b.blocking != nil { // a thread that blocks at t may have given its work to this one
			for p := range b.threads {
				if LaneID(p) != lane && d.Lanes[p].Proc == d.Lanes[lane].Proc && b.threads[p].blocks && b.blocksAt(LaneID(p), t) {
					try(LaneID(p))
				}
			}
		}
		return to, h, ok
	}
	blocks := b.blocking != nil && b.blocking[b.event(owner).Name]
	if !blocks && !d.WaitsForLoader(owner) {
		return to, h, ok
	}
	for p := range b.threads {
		x := &b.threads[p]
		if LaneID(p) != lane && d.Lanes[p].Proc == d.Lanes[lane].Proc && x.ops > 0 && (blocks && (x.blocks || x.autograd || b.lonely) || x.pinMemory) {
			try(LaneID(p))
		}
	}
	return to, h, ok
}

// blocksAt reports whether a thread is in a blocking slice just before t.
func (b *builder) blocksAt(lane LaneID, t int64) bool {
	d := b.d
	i := d.PieceAt(lane, t)
	return i >= 0 && d.Pieces[i].Owner != NoAct && b.blocking[b.event(d.Pieces[i].Owner).Name]
}

// endedWait reports whether a thread ended an op or call in (from, t] and is idle at t, and its last boundary.
func (b *builder) endedWait(lane LaneID, from, t int64) (int64, bool) {
	busy := b.threads[lane].busy
	n := sort.Search(len(busy), func(i int) bool { return busy[i].Start >= t })
	if n == 0 || busy[n-1].End > t || busy[n-1].End <= from {
		return 0, false
	}
	if busy[n-1].End == t {
		return t, true
	}
	return b.d.Pieces[b.d.PieceAt(lane, t)].Start, true
}
