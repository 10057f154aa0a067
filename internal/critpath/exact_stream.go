package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// candidate is something that may have released an operation.
type candidate struct {
	from     cdg.ActID
	rule     cdg.Rule
	evidence cdg.Evidence
	at       int64 // its own time: the end of an operation, the start of a launch; not after the operation's start
	release  int64 // at + its least delay
	feasible bool  // the delay is one that happens
}

// better orders candidates: possible delays first, then the latest release, then stream order, event wait, launch.
func (c *candidate) better(o *candidate) bool {
	if c.feasible != o.feasible {
		return c.feasible
	}
	if c.release != o.release {
		return c.release > o.release
	}
	return releaseRank[c.rule] < releaseRank[o.rule]
}

var releaseRank = [cdg.NumRules]int{cdg.StreamOrder: 0, cdg.EventWait: 1, cdg.GraphOrder: 1, cdg.Launch: 2}

// stepStream emits the operation that covers t and goes to what released it.
func (w *walker) stepStream() {
	d := w.d
	k := w.act
	if k == cdg.NoAct || d.Acts[k].Start >= w.t || d.Acts[k].End < w.t {
		k = w.runningAt(w.lane, w.t)
	}
	if k == cdg.NoAct {
		w.emit(w.t0, trace.NoEvent, Unexplained, cdg.ByNothing)
		return
	}
	act := &d.Acts[k]
	best, ok := w.release(k)
	if !ok {
		best.evidence = cdg.ByNothing
	}
	w.emit(act.Start, act.Event, w.opKind(act.Event), best.evidence)
	if w.t <= w.t0 {
		return
	}
	if !ok {
		w.quality["operations_without_release"]++
		w.emit(w.t0, trace.NoEvent, Unexplained, cdg.ByNothing)
		return
	}
	kind, edge := LaunchDelay, LaunchDelayEdge
	switch best.rule {
	case cdg.StreamOrder:
		kind, edge = KernelDelay, KernelDelayEdge
	case cdg.EventWait, cdg.GraphOrder:
		kind, edge = EventDelay, EventWaitEdge
	}
	by := best.evidence
	if w.unexplained(k, &best) {
		kind, by = Unexplained, cdg.ByNothing
		if d.InGraph(k) && (best.rule == cdg.Launch || w.launchOf(best.from) != w.launchOf(k)) {
			w.quality["gpu_records_lost_before_graph"]++ // an idle GPU before a graph's first operation
		}
	}
	w.enter(edge, best.evidence, false, act.Start)
	w.emit(best.at, trace.NoEvent, kind, by)
	from := &d.Acts[best.from]
	if best.rule == cdg.Launch {
		w.link(from.Event, w.t)
		w.goTo(from.Lane, cdg.NoAct)
		return
	}
	w.goTo(from.Lane, best.from)
}

// runningAt returns the operation of a stream with start < t <= end that started last, or NoAct.
func (w *walker) runningAt(lane cdg.LaneID, t int64) cdg.ActID {
	l := &w.d.Lanes[lane]
	lo, hi := l.First, l.Limit
	for lo < hi {
		if m := (lo + hi) / 2; w.d.Acts[m].Start < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	for a := lo - 1; a >= l.First; a-- {
		if w.d.Acts[a].End >= t {
			return a
		}
	}
	return cdg.NoAct
}

// release chooses what released an operation.
func (w *walker) release(k cdg.ActID) (best candidate, ok bool) {
	d, cal := w.d, &w.d.Cal
	act := &d.Acts[k]
	for _, dep := range d.Sources(k) {
		from := &d.Acts[dep.From]
		c := candidate{from: dep.From, rule: dep.Rule, evidence: dep.Evidence}
		least, most := cal.Kmin, cal.Kmax
		switch dep.Rule {
		case cdg.Launch:
			c.at, least, most = from.Start, cal.Lmin, d.LaunchMax(k, dep.From)
			if dep.Evidence == cdg.ByAlignment && act.Start-from.Start > most {
				c.at = act.Start - least // launched from within a slice, not recorded
			}
		case cdg.EventWait:
			c.at, least, most = from.End, cal.Wmin, cal.Wmax
		case cdg.GraphOrder:
			c.at, most = from.End, cal.Wmax
		case cdg.StreamOrder:
			c.at = from.End
		default:
			continue
		}
		c.at = min(c.at, act.Start)
		if dep.Rule != cdg.Launch && from.Start >= c.at {
			continue // no progress: it started together with k
		}
		c.release = c.at + least
		c.feasible = act.Start-c.at <= most
		if !ok || c.better(&best) {
			best, ok = c, true
		}
	}
	return best, ok
}

// unexplained reports whether an operation started long after everything known had released it.
func (w *walker) unexplained(k cdg.ActID, c *candidate) bool {
	if c.rule == cdg.EventWait || c.rule == cdg.GraphOrder && c.feasible {
		return false
	}
	release := c.release
	if call := w.launchOf(k); call != cdg.NoAct {
		release = max(release, w.d.Acts[call].End) // a slow call, a graph launch for one, holds its operations back
	}
	return w.d.Acts[k].Start > release+max(20_000, 10*w.d.Cal.Kmin)
}

func (w *walker) launchOf(k cdg.ActID) cdg.ActID {
	for _, dep := range w.d.Sources(k) {
		if dep.Rule == cdg.Launch {
			return dep.From
		}
	}
	return cdg.NoAct
}
