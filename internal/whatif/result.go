package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// Touched is what a scenario changes of a run.
type Touched struct {
	Events   int   // activities with time of their own in the window
	Own      int64 // that time, ns
	Critical int64 // of it on the recorded critical path, ns
	Promise  int64 // what the share of the path would promise to save: what is taken of Critical, ns
}

// Touched sums up what the changes of a scenario are about; path is the recorded one.
func (r *Result) Touched(path *critpath.Path) Touched {
	var t Touched
	m := r.m
	on := m.NewSet()
	for i := range r.Scenario.Changes {
		c := &r.Scenario.Changes[i]
		if c.On != nil {
			on = union(on, c.On)
		}
		if c.Verb == Shrink { // with what they enclose
			for a := range m.g.Acts {
				if m.outermost(cdg.ActID(a), c.On) != cdg.NoAct {
					on.Add(cdg.ActID(a))
				}
			}
		}
	}
	seen := m.NewSet()
	m.eachOwn(func(a cdg.ActID, ns int64) {
		if on.Has(a) {
			t.Own += ns
			if !seen.Has(a) {
				seen.Add(a)
				t.Events++
			}
		}
	})
	for _, x := range path.Marks.All() {
		if a := m.g.ActOf[x.Event]; a != cdg.NoAct && on.Has(a) {
			t.Critical += x.NS
			t.Promise += x.NS - r.plan.partOf(a, x.NS)
		}
	}
	class := critpath.Breakdown(path).Class
	for i := range r.Scenario.Changes {
		if c := &r.Scenario.Changes[i]; c.Verb == Delay {
			for _, k := range c.Kinds {
				ns := class[delayClass[k]]
				t.Critical += ns
				t.Promise += ns - ratio{c.Num, c.Den}.of(ns)
			}
		}
	}
	return t
}

// Classes is the time of the simulated critical path by class, ns: it sums to the window. It is much cheaper than Path,
// and agrees with it but for time in which a thread waits for another that waits for nobody known.
func (r *Result) Classes() (sum [critpath.NumClasses]int64) {
	after := min(r.last.after, r.Window)
	sum[critpath.ClassUntraced] += after
	r.walk(r.last.point, 0, r.m.t0+r.Window-after, r.m.t0, func(ns int64, c critpath.Class) { sum[c] += ns })
	return sum
}

// walk goes back from t, where a point is reached, over what bound it: down to a point, or to a time. It tells the time that it takes, which lies
// between these, by class.
func (r *Result) walk(at, until int32, t, from int64, tell func(int64, critpath.Class)) {
	m, p := r.m, &r.plan
	class, gaps, idle := m.opClass(), lengths{list: m.gaps}, lengths{list: m.idle}
	take := func(to int64, c critpath.Class) {
		if to = max(to, from); to < t {
			tell(t-to, c)
			t = to
		}
	}
	for at > 0 && at != until && t > from {
		if a := m.act[at]; a != cdg.NoAct {
			take(r.end[at]-p.cost.of(at), pathClasses[class[a-m.firstOp]])
		}
		if r.by[at] == none {
			if m.prev[at] == none {
				break
			}
			before := r.end[m.prev[at]]
			ns := gaps.of(at)
			if p.gaps != (ratio{1, 1}) {
				ns = p.gaps.of(ns)
			}
			take(t-min(ns, t-before), critpath.ClassUntraced)
			take(t-min(idle.of(at), t-before), critpath.ClassIdle)
			take(before, critpath.ClassCPU)
			at = m.prev[at]
			continue
		}
		src := r.source(at)
		if src == 0 {
			break
		}
		take(r.end[src], delayClass[p.deps[r.by[at]].kind])
		at = src
	}
	take(from, critpath.ClassUnexplained)
}

var delayClass = [numDelayKinds]critpath.Class{fixedDelay: critpath.ClassUnexplained, launchDelay: critpath.ClassLaunch, syncDelay: critpath.ClassSync,
	handoffDelay: critpath.ClassHandoff, unknownDelay: critpath.ClassUnexplained, lostDelay: critpath.ClassCompute, gapDelay: critpath.ClassUntraced}

// pathClasses are the classes of the path that the work of activities is.
var pathClasses = [...]critpath.Class{CPUClass: critpath.ClassCPU, RuntimeClass: critpath.ClassCPU, PythonClass: critpath.ClassCPU,
	ComputeClass: critpath.ClassCompute, CommClass: critpath.ClassComm, CopyClass: critpath.ClassCopy}

// lengths looks up points in a list that is sorted by them: quickly where each lies shortly before the one that was asked for last.
type lengths struct {
	list []gap
	i    int // how many of the list lie before the point
}

func (l *lengths) of(at int32) int64 {
	for range 4 {
		if l.i == 0 || l.list[l.i-1].point < at {
			break
		}
		l.i--
	}
	if l.i > 0 && l.list[l.i-1].point >= at || l.i < len(l.list) && l.list[l.i].point < at {
		l.i, _ = slices.BinarySearchFunc(l.list, at, func(g gap, at int32) int { return cmp.Compare(g.point, at) })
	}
	if l.i == len(l.list) || l.list[l.i].point != at {
		return 0
	}
	return l.list[l.i].ns
}

// End is when an operation of a stream is over in the simulated run, ns.
func (r *Result) End(op cdg.ActID) int64 {
	if p := r.m.pointOf(op); p != none {
		return r.end[p]
	}
	if end := r.m.g.Acts[op].End; end < r.m.t1 {
		return end
	}
	return r.m.g.Acts[op].End - r.Saved()
}
