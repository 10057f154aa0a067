package critpath

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

const (
	comeBackWait = 20_000    // ns: a longer wait that nobody ends goes back to the slice left behind
	longHandoff  = 1_000_000 // ns: a longer hand-off is counted
)

// stepThread emits the end of the piece that a thread was in up to t, or goes to what ended its wait.
func (w *walker) stepThread() {
	d := w.d
	if w.piece < 0 {
		w.piece = d.PieceAt(w.lane, w.t)
	}
	if w.piece < 0 { // before the first slice of the thread
		if w.handOff(cdg.NoAct, w.t0) || w.comeBack(w.t0) || w.beforeRecording() {
			return
		}
		w.emit(w.t0, trace.NoEvent, Untraced, cdg.ByNothing)
		return
	}
	from, owner := d.Pieces[w.piece].Start, d.Pieces[w.piece].Owner
	if owner == cdg.NoAct {
		if w.handOff(cdg.NoAct, from) || w.comeBack(from) {
			return
		}
		w.emit(from, trace.NoEvent, Untraced, cdg.ByNothing)
		w.piece--
		return
	}
	switch {
	case w.tr.Events[d.Acts[owner].Event].Kind.Call():
		if w.blocked(owner, from) {
			return
		}
	case d.Marker(owner):
		if w.polled(owner, from) || w.handOff(owner, from) || w.comeBack(from) {
			return
		}
	}
	w.own(from, owner)
}

// own emits self time of a slice down to from.
func (w *walker) own(from int64, owner cdg.ActID) {
	e := w.d.Acts[owner].Event
	stop := w.d.Pieces[w.piece].Start
	w.emit(from, e, hostKind[w.tr.Events[e].Kind], cdg.ByProgram)
	if w.t <= stop {
		w.piece--
		if w.piece < int(w.d.PieceFirst[w.lane]) {
			w.piece = -1
		}
	}
}

var hostKind = [trace.NumKinds]SegmentKind{trace.Runtime: RuntimeCall, trace.Driver: RuntimeCall, trace.Python: PythonFrame}

// blocked goes from a call, or the call around it, to the operation that it waited for.
func (w *walker) blocked(owner cdg.ActID, from int64) bool {
	d := w.d
	for c := owner; c != cdg.NoAct && w.tr.Events[d.Acts[c].Event].Kind.Call(); c = d.Parent[c] {
		call := &d.Acts[c]
		best, found := cdg.Dep{From: cdg.NoAct}, false
		for _, dep := range d.Sources(c) {
			if dep.Rule != cdg.Sync && dep.Rule != cdg.QueueFull {
				continue
			}
			if !found || d.Acts[dep.From].End > d.Acts[best.From].End {
				best, found = dep, true
			}
		}
		if !found {
			continue
		}
		end := min(d.Acts[best.From].End, call.End)
		if end > w.t || end < from || d.Acts[best.From].Start >= end {
			continue
		}
		edge := SyncDependencyEdge
		if best.Rule == cdg.QueueFull {
			edge = QueueFullEdge
		}
		w.waitedFor(d.Acts[owner].Event, end, best, edge)
		return true
	}
	return false
}

// waitedFor emits the rest of a wait after an operation ended, and goes to the operation.
func (w *walker) waitedFor(event trace.EventID, end int64, dep cdg.Dep, edge EdgeType) {
	if end == w.t {
		w.link(event, w.t)
	}
	w.emit(end, event, SyncWait, dep.Evidence)
	w.enter(edge, dep.Evidence, true, end)
	w.goTo(w.d.Acts[dep.From].Lane, dep.From)
}

// polled goes from a slice that spins on memory to the operation that wrote it.
func (w *walker) polled(owner cdg.ActID, from int64) bool {
	d := w.d
	for _, dep := range d.Sources(owner) {
		g := &d.Acts[dep.From]
		if dep.Rule != cdg.PolledWait || g.Start >= w.t || g.End < w.t-20_000 || g.End > w.t+100_000 || g.End <= from {
			continue
		}
		w.waitedFor(d.Acts[owner].Event, min(g.End, w.t), dep, SyncDependencyEdge)
		return true
	}
	return false
}

// handOff goes to the thread that ended a wait over (from, t], if there is one; where the slice left behind explains
// the wait better, back to that.
func (w *walker) handOff(owner cdg.ActID, from int64) bool {
	if slices.Contains(w.barred, w.lane) {
		return false
	}
	from = max(from, w.t0)
	to, h, ok := w.d.HandoffAt(w.tr, w.lane, owner, from, w.t)
	if !ok || slices.Contains(w.barred, to) {
		return false
	}
	if began := w.leftBegan(from); began > h || began == h && w.d.WaitsForLoader(w.tr, w.left.act) {
		return w.comeBack(from)
	}
	if w.t-h > longHandoff {
		w.quality["long_handoff"]++
	}
	w.barred = append(w.barred, w.lane)
	w.left = left{w.lane, owner, owner != cdg.NoAct}
	t := w.t
	w.emit(h, trace.NoEvent, HandoffDelay, cdg.ByAlignment)
	if w.next != trace.NoEvent {
		w.enter(HandoffEdge, cdg.ByAlignment, w.step.toEnd, t)
	}
	w.goTo(to, cdg.NoAct)
	return true
}

// leftBegan returns when the slice that a hand-off left behind began to wait, if it still waits at t and began inside
// a long wait of this thread that started at from; else -1 << 62.
func (w *walker) leftBegan(from int64) int64 {
	if !w.left.ok || w.left.lane == w.lane || w.t-from <= comeBackWait {
		return -1 << 62
	}
	i := w.d.PieceAt(w.left.lane, w.t)
	if i < 0 || w.d.Pieces[i].Owner != w.left.act || max(w.d.Pieces[i].Start, w.t0) < from {
		return -1 << 62
	}
	return max(w.d.Pieces[i].Start, w.t0)
}

// beforeRecording goes from the first slice of a thread to the operation that ended just before: recording began
// inside a call that waited for it.
func (w *walker) beforeRecording() bool {
	g := w.d.LastEnded(w.lane, w.t-w.d.Cal.SyncMax, w.t)
	if g == cdg.NoAct {
		return false
	}
	t := w.t
	w.emit(w.d.Acts[g].End, trace.NoEvent, Untraced, cdg.ByNothing)
	w.enter(SyncDependencyEdge, cdg.ByAlignment, w.step.toEnd, t)
	w.goTo(w.d.Acts[g].Lane, g)
	return true
}

// comeBack returns to the slice that a hand-off left behind when the other thread waits long, nobody ends that wait,
// and the slice began to wait inside it: the time is the slice's own. Had the other thread worked for the slice before
// the wait, the wait would be part of that work.
func (w *walker) comeBack(from int64) bool {
	began := w.leftBegan(max(from, w.t0))
	if began < w.t0 {
		return false
	}
	w.goTo(w.left.lane, cdg.NoAct)
	w.left.ok = false
	w.enter(HandoffEdge, cdg.ByAlignment, w.step.toEnd, w.t)
	w.piece = w.d.PieceAt(w.lane, w.t)
	w.own(began, w.left.act)
	return true
}
