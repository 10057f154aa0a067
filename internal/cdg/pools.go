package cdg

import (
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const (
	poolThreads = 3        // threads of a process that do the same from the top make a pool
	longRound   = 100 * us // a call that lasts longer, and that is no launch or wait, may be a round of work
)

var poolsRule = rule{name: "pools of threads", find: func(b *builder) { *b.pool = b.findPools() }}

// findPools reads names once, and finds what several threads of a process begin with after a gap, again and again.
func (b *builder) findPools() (p pool) {
	d, tr := b.d, b.tr
	p.rounds = map[roundKey]bool{}
	for i, s := range tr.Syms {
		if tid, ok := vendors.StartedBy(s); ok {
			if p.starts == nil {
				p.starts, p.lanes = map[trace.Sym]int64{}, map[threadKey]LaneID{}
			}
			p.starts[trace.Sym(i)] = tid
		}
	}
	threads := map[roundKey]int{}
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			continue
		}
		if tid := tr.Tracks[lane.Track].TID; p.lanes != nil && tid.IsNum {
			p.lanes[threadKey{lane.Proc, tid.Num}] = LaneID(l)
		}
		times := map[trace.Sym]int{}
		for i := int(d.PieceFirst[l]) + 1; i < int(d.PieceFirst[l+1]); i++ {
			if d.Pieces[i-1].Owner != NoAct || d.Pieces[i].Owner == NoAct || d.Parent[d.Pieces[i].Owner] != NoAct {
				continue
			}
			if e := b.event(d.Pieces[i].Owner); e.Kind == trace.Annotation || e.Kind.Call() && b.tr.Dur(e) >= longRound && b.calls[e.Name] == plainCall {
				times[e.Name]++
			}
		}
		for name, n := range times {
			if n > 1 {
				threads[roundKey{lane.Proc, name}]++
			}
		}
	}
	for k, n := range threads {
		if n >= poolThreads {
			p.rounds[k] = true
		}
	}
	return p
}

// startedBy finds the thread that gave another its work, by the name of what that began with at t.
func (b *threadBinder) startedBy(w *Wait, lane LaneID, piece int, t int64) bool {
	d := b.d
	if b.pool.starts == nil || b.turns == nil || b.o.without(Handoff) || piece+1 >= int(d.PieceFirst[lane+1]) || d.Pieces[piece+1].Start != t || d.Pieces[piece+1].Owner == NoAct {
		return false
	}
	tid, ok := b.pool.starts[b.event(d.Pieces[piece+1].Owner).Name]
	if !ok {
		return false
	}
	to, ok := b.pool.lanes[threadKey{d.Lanes[lane].Proc, tid}]
	if !ok || to == lane {
		return false
	}
	i := d.PieceAt(to, t)
	if i < 0 || d.Pieces[i].Owner == NoAct || d.Pieces[i].Start <= d.Pieces[piece].Start {
		return false // that thread was not there
	}
	h := d.Pieces[i].Start
	*w = Wait{At: h, From: b.lastAct(to, h), Rule: Handoff, Evidence: ByAPI}
	return true
}

// idle reports whether a gap up to t, before a piece, is that of a thread of a pool that waits for its next round.
func (b *threadBinder) idle(lane LaneID, next int, t int64) bool {
	d := b.d
	if len(b.pool.rounds) == 0 || next >= int(d.PieceFirst[lane+1]) || d.Pieces[next].Start != t || d.Pieces[next].Owner == NoAct {
		return false
	}
	return b.pool.rounds[roundKey{d.Lanes[lane].Proc, b.event(d.Pieces[next].Owner).Name}]
}
