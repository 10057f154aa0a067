package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// stepStream emits the operation that covers t and goes to what released it.
func (w *walker) stepStream() {
	g := w.g
	k := w.act
	// What starts at t is passed: in a simulated run work may take no time, and operations that overlap may start together.
	if k == cdg.NoAct || g.Acts[k].Start > w.t || g.Acts[k].End < w.t {
		k = w.runningAt(w.lane, w.t)
	}
	if k == cdg.NoAct {
		w.emit(w.t0, trace.NoEvent, Unexplained, cdg.ByNothing)
		return
	}
	act, wait := &g.Acts[k], g.Release(k)
	w.emit(act.Start, act.Event, w.opKind(act.Event), wait.Evidence)
	if w.t <= w.t0 {
		return
	}
	if wait.From == cdg.NoAct {
		w.quality["operations_without_release"]++
		w.emit(w.t0, trace.NoEvent, Unexplained, cdg.ByNothing)
		return
	}
	kind, edge := LaunchDelay, LaunchDelayEdge
	switch wait.Rule {
	case cdg.StreamOrder:
		kind, edge = KernelDelay, KernelDelayEdge
	case cdg.EventWait, cdg.GraphOrder:
		kind, edge = EventDelay, EventWaitEdge
	}
	by := wait.Evidence
	if wait.Note != cdg.Explained {
		kind, by = Unexplained, cdg.ByNothing
		if wait.Note == cdg.RecordsLost {
			w.quality["gpu_records_lost_before_graph"]++
		}
	}
	w.enter(edge, wait.Evidence, false, act.Start)
	w.emit(wait.At, trace.NoEvent, kind, by)
	from := &g.Acts[wait.From]
	if wait.Rule == cdg.Launch {
		w.addEdge(from.Event, w.t)
		w.goTo(from.Lane, cdg.NoAct)
		return
	}
	w.goTo(from.Lane, wait.From)
}

// runningAt returns the operation of a stream with start < t <= end that started last, or NoAct.
func (w *walker) runningAt(lane cdg.LaneID, t int64) cdg.ActID {
	l := &w.g.Lanes[lane]
	lo, hi := l.First, l.Limit
	for lo < hi {
		if m := (lo + hi) / 2; w.g.Acts[m].Start < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for a := lo - 1; a >= l.First; a-- {
		if w.g.Acts[a].End >= t {
			return a
		}
	}
	return cdg.NoAct
}
