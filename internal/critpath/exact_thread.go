package critpath

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const (
	comeBackWait = 20_000    // ns: a longer wait that nobody ends goes back to the slice left behind
	longHandoff  = 1_000_000 // ns: a longer hand-off is counted
)

// stepThread emits the end of the piece that a thread was in up to t, or goes to what it waited for until then.
func (w *walker) stepThread() {
	g := w.g
	if w.piece < 0 {
		w.piece = g.PieceAt(w.lane, w.t)
	}
	from, owner := w.t0, cdg.NoAct // before the first slice of the thread
	if w.piece >= 0 {
		from, owner = g.Pieces[w.piece].Start, g.Pieces[w.piece].Owner
	}
	if wait := g.WaitAt(w.lane, w.piece, w.t); wait != nil {
		switch {
		case wait.Rule.Waits() == cdg.SliceWaits:
			w.waitedFor(g.Acts[owner].Event, wait)
			return
		case wait.Rule == cdg.Handoff:
			if w.handOff(owner, from, wait) {
				return
			}
		case wait.Rule == cdg.BeforeRecording:
			if !w.comeBack(from) {
				w.beforeRecording(wait)
			}
			return
		}
	}
	if (owner == cdg.NoAct || g.Marker(owner) && !w.host.works(owner)) && w.comeBack(from) {
		return
	}
	if owner == cdg.NoAct {
		if wait := g.WaitAt(w.lane, w.piece, w.t); wait != nil && wait.Note == cdg.Idle {
			w.idle(from)
		} else {
			w.emit(from, trace.NoEvent, Untraced, cdg.ByNothing)
		}
		w.before()
		return
	}
	w.own(from, owner)
}

// idle emits the time down to from in which a thread of a pool had no work. Where a device ran meanwhile nobody knows that the program
// was idle: threads may have waited for the device.
func (w *walker) idle(from int64) {
	if w.busy == nil {
		w.busy = busySpans(w.g)
	}
	for from = max(from, w.t0); w.t > from; {
		n, _ := slices.BinarySearchFunc(w.busy, w.t, func(s cdg.Span, t int64) int { return cmp.Compare(s.Start, t) })
		switch {
		case n == 0:
			w.emit(from, trace.NoEvent, IdleWorker, cdg.ByNothing)
		case w.busy[n-1].End < w.t:
			w.emit(max(from, w.busy[n-1].End), trace.NoEvent, IdleWorker, cdg.ByNothing)
		default:
			w.emit(max(from, w.busy[n-1].Start), trace.NoEvent, Unexplained, cdg.ByNothing)
		}
	}
}

// busySpans is when any stream ran an operation, in order; not nil.
func busySpans(g *cdg.Graph) []cdg.Span {
	all := []cdg.Span{}
	for l := range g.Lanes {
		if x := &g.Lanes[l]; x.Stream {
			for a := x.First; a < x.Limit; a++ {
				if act := &g.Acts[a]; act.End > act.Start {
					all = append(all, cdg.Span{Start: act.Start, End: act.End})
				}
			}
		}
	}
	return Joined(all)
}

// Joined puts spans in order and makes one of those that touch.
func Joined(all []cdg.Span) []cdg.Span {
	slices.SortFunc(all, func(x, y cdg.Span) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End)) })
	out := all[:0]
	for _, s := range all {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// own emits self time of a slice down to from.
func (w *walker) own(from int64, owner cdg.ActID) {
	e := w.g.Acts[owner].Event
	cut := w.cutSync(owner)
	if w.classes != nil && !cut {
		w.emit(min(from, w.leap()), e, CPU, cdg.ByProgram)
	} else {
		kind, by := w.host.own(owner)
		if cut {
			kind, by = SyncWait, cdg.ByNothing
			w.quality[CutSync]++
		}
		w.emit(from, e, kind, by)
	}
	if w.t <= w.g.Pieces[w.piece].Start {
		w.before()
	}
}

// leap goes to the first of the pieces that a thread has to itself up to the present one, and returns its start: they are of one class, as
// a synchronisation that the recording cut has no piece behind it.
func (w *walker) leap() int64 {
	g := w.g
	for first := int(g.PieceFirst[w.lane]); w.piece > first && g.Pieces[w.piece].Begun == cdg.NoWait && g.Pieces[w.piece].Start > w.t0; w.piece-- {
		if owner := g.Pieces[w.piece-1].Owner; owner == cdg.NoAct || w.waiting.ok && g.Marker(owner) {
			break
		}
	}
	return g.Pieces[w.piece].Start
}

// unseenWait is longer than a synchronisation takes that has nothing to wait for.
const unseenWait = 50_000 // ns

// CutSync counts synchronisations of the path in which the recording ended: what they waited for is not recorded.
const CutSync = "sync_cut_by_end"

// cutSync reports whether the recording ended in a synchronisation that no recorded operation explains: it waited for what still ran then.
func (w *walker) cutSync(a cdg.ActID) bool {
	act := &w.g.Acts[a]
	if act.End < w.g.Window.End || a != w.g.Lanes[act.Lane].Limit-1 || !w.g.Call(a) || act.End-act.Start <= unseenWait || len(w.g.Sources(a)) > 0 {
		return false
	}
	switch vendors.VerbOf(w.tr.Name(act.Event)) {
	case vendors.StreamSync, vendors.DeviceSync, vendors.EventSync:
		return true
	}
	return false
}

// before goes to the piece before, if the thread has one.
func (w *walker) before() {
	if w.piece--; w.piece < int(w.g.PieceFirst[w.lane]) {
		w.piece = -1
	}
}

// waitedFor emits the rest of a wait after an operation ended, and goes to the operation.
func (w *walker) waitedFor(event trace.EventID, wait *cdg.Wait) {
	edge := SyncDependencyEdge
	if wait.Rule == cdg.QueueFull {
		edge = QueueFullEdge
	}
	if wait.At == w.t {
		w.addEdge(event, w.t)
	}
	w.emit(wait.At, event, SyncWait, wait.Evidence)
	w.enter(edge, wait.Evidence, true, wait.At)
	w.goTo(w.g.Acts[wait.From].Lane, wait.From)
}

// handOff goes to the thread that ended a wait over (from, t]; where the slice left behind explains the wait better,
// back to that. No border shows when a slice that waited went on, nor when the one that ended its wait did so, if it was
// no end of an op: each of the two owns what such slices take there as a rule. Arrows go past them, to what has a
// border there.
func (w *walker) handOff(owner cdg.ActID, from int64, wait *cdg.Wait) bool {
	to := w.g.Acts[wait.From].Lane
	if began := w.waitingBegan(max(from, w.t0)); began > wait.At || began == wait.At && w.g.WaitsForLoader(w.waiting.act) {
		return w.comeBack(from)
	}
	if w.t-wait.At > longHandoff {
		w.quality["long_handoff"]++
	}
	w.waiting = waitingSlice{w.lane, owner, owner != cdg.NoAct}
	t := w.t
	giver := w.inside(to, wait.At)
	before, after := w.ownTimes(giver, owner, t-wait.At)
	w.ownUnseen(max(from, t-after), owner)
	w.emit(wait.At+before, trace.NoEvent, HandoffDelay, wait.Evidence)
	w.ownUnseen(wait.At, giver)
	if w.next != trace.NoEvent {
		w.enter(HandoffEdge, wait.Evidence, w.step.toEnd, t)
	}
	w.goTo(to, cdg.NoAct)
	return true
}

// inside is the slice whose piece of a thread begins at t, or goes on there.
func (w *walker) inside(lane cdg.LaneID, t int64) cdg.ActID {
	i := max(w.g.PieceAt(lane, t), int(w.g.PieceFirst[lane])-1)
	if n := i + 1; n < int(w.g.PieceFirst[lane+1]) && w.g.Pieces[n].Start == t {
		i = n
	}
	if i < int(w.g.PieceFirst[lane]) {
		return cdg.NoAct
	}
	return w.g.Pieces[i].Owner
}

// ownTimes are what the slices at both ends of a hand-off that took so long own of it: what is usual, but no more than
// leaves as much to the hand-off itself.
func (w *walker) ownTimes(giver, taker cdg.ActID, took int64) (before, after int64) {
	own := func(a cdg.ActID) bool { return a != cdg.NoAct && w.g.Marker(a) && !w.host.waits(a) }
	ends := int64(1)
	if own(giver) {
		ends++
	}
	if own(taker) {
		ends++
	}
	usual := min(w.g.Delays.Own, took/ends)
	if own(giver) {
		before = usual
	}
	if own(taker) {
		after = usual
	}
	return before, after
}

// ownUnseen puts time of a slice on the path that no border shows.
func (w *walker) ownUnseen(from int64, owner cdg.ActID) {
	if from < w.t {
		kind, _ := w.host.own(owner)
		w.fill(from, w.g.Acts[owner].Event, kind, cdg.ByAlignment)
	}
}

// waitingBegan returns when the slice that a hand-off left behind began to wait, if it still waits at t and began inside
// a long wait of this thread that started at from; else -1 << 62.
func (w *walker) waitingBegan(from int64) int64 {
	if !w.waiting.ok || w.waiting.lane == w.lane || w.t-from <= comeBackWait && !(w.g.Pins(w.lane) && w.waiting.act != cdg.NoAct && w.g.WaitsForLoader(w.waiting.act)) {
		return -1 << 62
	}
	i := w.g.PieceAt(w.waiting.lane, w.t)
	if i < 0 || w.g.Pieces[i].Owner != w.waiting.act || max(w.g.Pieces[i].Start, w.t0) < from {
		return -1 << 62
	}
	return max(w.g.Pieces[i].Start, w.t0)
}

// beforeRecording goes from the first slice of a thread to the operation that ended just before.
func (w *walker) beforeRecording(wait *cdg.Wait) {
	t := w.t
	w.emit(wait.At, trace.NoEvent, Untraced, cdg.ByNothing)
	w.enter(SyncDependencyEdge, wait.Evidence, w.step.toEnd, t)
	w.goTo(w.g.Acts[wait.From].Lane, wait.From)
}

// comeBack returns to the slice that a hand-off left behind when the other thread waits long, nobody ends that wait,
// and the slice began to wait inside it: the time is the slice's own. Had the other thread worked for the slice before
// the wait, the wait would be part of that work.
func (w *walker) comeBack(from int64) bool {
	began := w.waitingBegan(max(from, w.t0))
	if began < w.t0 {
		return false
	}
	w.goTo(w.waiting.lane, cdg.NoAct)
	w.waiting.ok = false
	w.enter(HandoffEdge, cdg.ByAlignment, w.step.toEnd, w.t)
	w.piece = w.g.PieceAt(w.lane, w.t)
	w.own(began, w.waiting.act)
	return true
}
