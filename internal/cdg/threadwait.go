package cdg

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/trace"
)

// handoffAtOnce is longer than a thread takes to wake up.
const handoffAtOnce = 100 * us

// bindThreads chooses what each thread waited for where a piece of it ends, and where something comes from inside a
// piece in which it waits. t0 and t1 are the window: a wait counts from its start, and the path may begin at its end.
func (b *threadBinder) bindThreads(t0, t1 int64) {
	d := b.d
	groups := map[trace.ProcID][]LaneID{} // the threads of each process
	var procs []trace.ProcID
	for l := range d.Lanes {
		if lane := &d.Lanes[l]; !lane.Stream {
			if groups[lane.Proc] == nil {
				procs = append(procs, lane.Proc)
			}
			groups[lane.Proc] = append(groups[lane.Proc], LaneID(l))
			b.inside = append(b.inside, Inside{At: t1, Lane: LaneID(l)})
		}
	}
	asked := map[trace.ProcID][]Inside{}
	for _, x := range b.inside {
		p := d.Lanes[x.Lane].Proc
		asked[p] = append(asked[p], x)
	}
	b.inside = nil
	index := make([]int32, len(d.Lanes))
	for _, p := range procs {
		inside := asked[p]
		slices.SortFunc(inside, func(x, y Inside) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.Lane, y.Lane)) })
		if lanes := groups[p]; len(lanes) > 1 {
			b.turns = newTurns(b, lanes, index)
			b.turns.run(inside, t0)
			b.turns = nil
		} else {
			b.bindAlone(lanes[0], inside, t0)
		}
	}
	slices.SortFunc(d.Inside, func(x, y Inside) int { return x.compare(y.Lane, y.At) })
}

// bindAlone does so for a thread that no other can hand over to.
func (b *threadBinder) bindAlone(lane LaneID, inside []Inside, t0 int64) {
	d := b.d
	lo, hi := int(d.PieceFirst[lane]), int(d.PieceFirst[lane+1])
	if lo < hi {
		d.Pieces[lo].Begun = b.bindPoint(lane, -1, d.Pieces[lo].Start, t0)
	}
	for i := lo; i+1 < hi; i++ {
		d.Pieces[i+1].Begun = NoWait
		if d.waits(lane, i) {
			d.Pieces[i+1].Begun = b.bindPoint(lane, i, d.Pieces[i+1].Start, t0)
		}
	}
	for k, x := range inside {
		piece := d.PieceAt(lane, x.At)
		next := piece + 1
		if piece < 0 {
			next = lo
		}
		if !d.waits(lane, piece) || next < hi && d.Pieces[next].Start == x.At || k > 0 && inside[k-1].At == x.At {
			continue // time of its own, or a border, which has its answer, or asked before
		}
		x.Wait = b.bindPoint(lane, piece, x.At, t0)
		d.Inside = append(d.Inside, x)
	}
}

// bindPoint stores what a thread waited for in a piece until t, and returns where.
func (b *threadBinder) bindPoint(lane LaneID, piece int, t, t0 int64) WaitID {
	d := b.d
	w := Wait{At: t, From: NoAct, Rule: Unexplained, Evidence: ByNothing}
	ok := true
	if piece < 0 {
		switch {
		case b.asked(&w, t0, int(d.PieceFirst[lane]), t):
		case b.handedOver(&w, lane, NoAct, t0, t):
			if late := w; w.Lag == 0 && t-w.At > handoffAtOnce && !b.o.without(BeforeRecording) {
				if b.beforeRecording(&late, lane, t); late.Rule == BeforeRecording && late.At > w.At {
					w = late // nobody takes that long to wake up, and an operation ended just before
				}
			}
		case b.idle(lane, int(d.PieceFirst[lane]), t):
			w.Note = Idle
		case !b.o.without(BeforeRecording):
			b.beforeRecording(&w, lane, t)
		}
	} else {
		from, owner := d.Pieces[piece].Start, d.Pieces[piece].Owner
		since := from
		if t > t0 {
			since = max(from, t0)
		}
		switch {
		case owner == NoAct:
			if !b.answered(&w, piece, t) && !b.asked(&w, from, piece+1, t) && !b.handedOver(&w, lane, NoAct, since, t) {
				w.At, w.Rule = from, Untraced
				if b.idle(lane, piece+1, t) {
					w.Note = Idle
				}
			}
		case b.woken(&w, lane, owner, from, t), b.answered(&w, piece, t):
		case d.blocks(owner):
			ok = b.blocked(&w, owner, from, t)
		default:
			ok = b.polled(&w, owner, from, t) || b.handedOver(&w, lane, owner, since, t) || b.held(&w, lane, piece, since, t)
		}
	}
	if !ok {
		return NoWait
	}
	w.Lag, w.Bound = t-w.At, true
	d.Waits = append(d.Waits, w)
	return WaitID(len(d.Waits) - 1)
}

// blocked finds the operation that a call, or the call around it, waited for in its own time (from, t].
func (b *threadBinder) blocked(w *Wait, owner ActID, from, t int64) bool {
	d := b.d
	for c := owner; c != NoAct && d.blocks(c); c = d.Parent[c] {
		var best *Wait
		for i, row := 0, d.Sources(c); i < len(row); i++ {
			if x := &row[i]; (x.Rule == Sync || x.Rule == QueueFull) && (best == nil || d.Acts[x.From].End > d.Acts[best.From].End) {
				best = x
			}
		}
		if best != nil && best.At >= from && best.At <= t && d.Acts[best.From].Start < best.At {
			*w = *best
			return true
		}
	}
	return false
}

// polled finds the operation that wrote the memory on which a slice spun in its self time (from, t].
func (b *threadBinder) polled(w *Wait, owner ActID, from, t int64) bool {
	d := b.d
	for _, x := range d.Sources(owner) {
		g := &d.Acts[x.From]
		if x.Rule == PolledWait && g.Start < t && g.End >= t-polledBefore && g.End <= t+polledAfter && g.End > from {
			*w = x
			w.At = min(g.End, t)
			return true
		}
	}
	return false
}

// handedOver finds the thread that ended a wait over (from, t], if there is one.
func (b *threadBinder) handedOver(w *Wait, lane LaneID, owner ActID, from, t int64) bool {
	if b.turns == nil || b.o.without(Handoff) {
		return false
	}
	to, h, ok := b.turns.handoffAt(lane, owner, from, t)
	if !ok {
		return false
	}
	*w = Wait{At: h, From: b.lastAct(to, h), Rule: Handoff, Evidence: ByAlignment}
	if h == t { // else it is the start of a piece
		b.inside = append(b.inside, Inside{At: h, Lane: to})
	}
	return true
}

// lastAct is the slice that a thread was in at t, or in last.
func (b *threadBinder) lastAct(lane LaneID, t int64) ActID {
	d := b.d
	i := max(d.PieceAt(lane, t), int(d.PieceFirst[lane]))
	if d.Pieces[i].Owner == NoAct {
		i--
	}
	return d.Pieces[i].Owner
}

// beforeRecording finds the operation that ended last before the first slice of a thread: recording began inside a call
// that waited for it.
func (b *threadBinder) beforeRecording(w *Wait, lane LaneID, t int64) {
	d := b.d
	n := sort.Search(len(b.byEnd), func(i int) bool { return d.Acts[b.byEnd[i]].End > t })
	for i := n - 1; i >= 0 && d.Acts[b.byEnd[i]].End >= t-d.Delays.Sync.Max; i-- {
		g := b.byEnd[i]
		if h := d.Lanes[d.Acts[g].Lane].Host; (h == trace.NoProc || h == d.Lanes[lane].Proc) && d.Acts[g].Start < d.Acts[g].End {
			*w = Wait{At: d.Acts[g].End, From: g, Rule: BeforeRecording, Evidence: ByAlignment}
			return
		}
	}
}
