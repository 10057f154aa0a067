package cdg

import (
	"slices"
	"sort"

	"overlay/internal/kineto"
)

// bindThreads chooses what each thread waited for where a piece of it ends, and where something comes from inside a
// piece in which it waits. t0 and t1 are the window: a wait counts from its start.
func (b *builder) bindThreads(t0, t1 int64) {
	d := b.d
	d.Begun = make([]WaitID, len(d.Pieces))
	for l := range d.Lanes {
		if d.Lanes[l].Stream {
			continue
		}
		lo, hi := int(d.PieceFirst[l]), int(d.PieceFirst[l+1])
		if lo < hi {
			d.Begun[lo] = b.bindPoint(LaneID(l), -1, d.Pieces[lo].Start, t0)
		}
		for i := lo; i+1 < hi; i++ {
			d.Begun[i+1] = NoWait
			if d.waits(LaneID(l), i) {
				d.Begun[i+1] = b.bindPoint(LaneID(l), i, d.Pieces[i+1].Start, t0)
			}
		}
		b.inside = append(b.inside, Inside{At: t1, Lane: LaneID(l)}) // the path may begin there
	}
	for len(b.inside) > 0 {
		b.bindInside(t0)
	}
}

// bindInside answers the points that are asked for; hand-offs among them may ask for more.
func (b *builder) bindInside(t0 int64) {
	d := b.d
	order := func(x, y Inside) int { return x.compare(y.Lane, y.At) }
	slices.SortFunc(b.inside, order)
	asked := slices.CompactFunc(b.inside, func(x, y Inside) bool { return order(x, y) == 0 })
	b.inside = nil
	known := len(d.Inside)
	for _, x := range asked {
		piece := d.PieceAt(x.Lane, x.At)
		next := piece + 1
		if piece < 0 {
			next = int(d.PieceFirst[x.Lane])
		}
		if !d.waits(x.Lane, piece) || next < int(d.PieceFirst[x.Lane+1]) && d.Pieces[next].Start == x.At {
			continue // its own time, or a border, which has an answer
		}
		if _, ok := slices.BinarySearchFunc(d.Inside[:known], x, order); ok {
			continue
		}
		x.Wait = b.bindPoint(x.Lane, piece, x.At, t0)
		d.Inside = append(d.Inside, x)
	}
	slices.SortFunc(d.Inside, order)
}

// bindPoint stores what a thread waited for in a piece until t, and returns where.
func (b *builder) bindPoint(lane LaneID, piece int, t, t0 int64) WaitID {
	d := b.d
	w := Wait{At: t, From: NoAct, Rule: Unexplained, Evidence: ByNothing}
	ok := true
	if piece < 0 {
		if !b.handedOver(&w, lane, NoAct, t0, t) && !b.o.without(BeforeRecording) {
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
			if !b.handedOver(&w, lane, NoAct, since, t) {
				w.At, w.Rule = from, Untraced
			}
		case d.Call(owner):
			ok = b.blocked(&w, owner, from, t)
		default:
			ok = b.polled(&w, owner, from, t) || b.handedOver(&w, lane, owner, since, t)
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
func (b *builder) blocked(w *Wait, owner ActID, from, t int64) bool {
	d := b.d
	for c := owner; c != NoAct && d.Call(c); c = d.Parent[c] {
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
func (b *builder) polled(w *Wait, owner ActID, from, t int64) bool {
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
func (b *builder) handedOver(w *Wait, lane LaneID, owner ActID, from, t int64) bool {
	to, h, ok := b.handoffAt(lane, owner, from, t)
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
func (b *builder) lastAct(lane LaneID, t int64) ActID {
	d := b.d
	i := max(d.PieceAt(lane, t), int(d.PieceFirst[lane]))
	if d.Pieces[i].Owner == NoAct {
		i--
	}
	return d.Pieces[i].Owner
}

// beforeRecording finds the operation that ended last before the first slice of a thread: recording began inside a call
// that waited for it.
func (b *builder) beforeRecording(w *Wait, lane LaneID, t int64) {
	d := b.d
	n := sort.Search(len(b.byEnd), func(i int) bool { return d.Acts[b.byEnd[i]].End > t })
	for i := n - 1; i >= 0 && d.Acts[b.byEnd[i]].End >= t-d.Delays.Sync.Max; i-- {
		g := b.byEnd[i]
		if h := d.Lanes[d.Acts[g].Lane].Host; (h == kineto.NoProc || h == d.Lanes[lane].Proc) && d.Acts[g].Start < d.Acts[g].End {
			*w = Wait{At: d.Acts[g].End, From: g, Rule: BeforeRecording, Evidence: ByAlignment}
			return
		}
	}
}
