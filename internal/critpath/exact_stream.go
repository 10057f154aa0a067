package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// stepStream emits the operation that covers t and goes to what released it.
func (w *walker) stepStream() {
	k := w.operation()
	if k == cdg.NoAct {
		w.emit(w.t0, trace.NoEvent, Unexplained, cdg.ByNothing)
		return
	}
	act := &w.g.Acts[k]
	w.emit(act.Start, act.Event, w.opKind(act.Event), w.g.Release(k).Evidence)
	if w.t > w.t0 {
		w.released(k)
	}
}

// operation is the operation of the stream that covers t, or NoAct. What starts at t is passed: in a simulated run work
// may take no time, and operations that overlap may start together.
func (w *walker) operation() cdg.ActID {
	if k := w.act; k != cdg.NoAct {
		if act := &w.g.Acts[k]; act.Start <= w.t && act.End >= w.t {
			return k
		}
	}
	return w.runningAt(w.lane, w.t)
}

// released goes from the start of an operation to what released it.
func (w *walker) released(k cdg.ActID) {
	g := w.g
	act, wait := &g.Acts[k], g.Release(k)
	if wait.From == cdg.NoAct {
		kind := Unexplained
		if wait.Note == cdg.Unrecorded {
			kind = GPUUnrecorded
		} else {
			w.quality["operations_without_release"]++
		}
		w.emit(w.t0, trace.NoEvent, kind, cdg.ByNothing)
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
	switch wait.Note {
	case cdg.Explained:
	case cdg.Late:
		kind, by = Unexplained, cdg.ByNothing
	case cdg.RecordsLost:
		w.quality["gpu_records_lost_before_graph"]++
		kind, by = GPUUnrecorded, cdg.ByNothing
	case cdg.Unrecorded:
		kind, by = GPUUnrecorded, cdg.ByNothing
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

// runningAt returns the operation of a stream with start < t <= end that started last, or NoAct. What it passes over
// started after that operation, where the walk does not come back to: all calls together take linear time.
func (w *walker) runningAt(lane cdg.LaneID, t int64) cdg.ActID {
	for a := w.lastBefore(lane, t); a >= w.g.Lanes[lane].First; a-- {
		if w.g.Acts[a].End >= t {
			return a
		}
	}
	return cdg.NoAct
}

// lastBefore is the last activity of a lane that starts before t; without one it is that before the lane's first.
func (w *walker) lastBefore(lane cdg.LaneID, t int64) cdg.ActID {
	lo, hi := w.g.Lanes[lane].First, w.g.Lanes[lane].Limit
	for lo < hi {
		if m := (lo + hi) / 2; w.g.Acts[m].Start < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo - 1
}
