package cdg

import (
	"cmp"
	"regexp"
	"slices"
	"sort"

	"overlay/internal/trace"
)

// lockReleased names frames of Python in which a thread lets another one go on: Condition.notify, Queue.put, Event.set and Future.set_result all end
// in the release of a lock that the waiting thread is about to acquire (CPython's threading.py and queue.py).
var lockReleased = regexp.MustCompile(`^<built-in method release of _thread\.`)

// lockAcquired names frames of Python in which a thread waits for such a release.
var lockAcquired = regexp.MustCompile(`^<built-in method acquire of _thread\.`)

// released is a release of a lock, which was over at a time.
type released struct {
	at   int64
	act  ActID
	lane LaneID
}

// locks are the locks of Python as they were recorded: which frames wait for one, and by process who released any.
type locks struct {
	acquires []bool // per symbol: a frame of that name waits for one; nil without frames
	releases map[trace.ProcID][]released
}

var locksRule = rule{name: "locks of Python", find: func(b *builder) { b.locks = b.findLocks() }}

// findLocks looks through the frames of Python.
func (b *builder) findLocks() (out locks) {
	if !slices.ContainsFunc(b.d.Acts[:b.firstOp], func(x Act) bool { return b.tr.Events[x.Event].Kind == trace.Python }) {
		return out
	}
	out.acquires, out.releases = matchSyms(b.tr, lockAcquired.MatchString), map[trace.ProcID][]released{}
	release := matchSyms(b.tr, lockReleased.MatchString)
	for a := range b.firstOp {
		if e, act := b.event(a), &b.d.Acts[a]; e.Kind == trace.Python && release[e.Name] {
			p := b.d.Lanes[act.Lane].Proc
			out.releases[p] = append(out.releases[p], released{act.End, a, act.Lane})
		}
	}
	for _, list := range out.releases {
		slices.SortFunc(list, func(x, y released) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.act, y.act)) })
	}
	return out
}

// recorded reports whether releases of locks were recorded in the process of a thread: then they tell who ended a wait, and nobody has to learn it from times.
func (l *locks) recorded(d *Graph, lane LaneID) bool { return len(l.releases[d.Lanes[lane].Proc]) > 0 }

// woken finds the release that ended a wait for a lock over (from, t]: the last one of another thread just before. The addresses in the names of such
// frames say nothing, since the profiler keeps the first of them for all locks.
func (b *threadBinder) woken(w *Wait, lane LaneID, owner ActID, from, t int64) bool {
	if b.locks.acquires == nil || !b.locks.acquires[b.event(owner).Name] || b.o.without(Handoff) {
		return false
	}
	list := b.locks.releases[b.d.Lanes[lane].Proc]
	for i := sort.Search(len(list), func(i int) bool { return list[i].at > t }) - 1; i >= 0; i-- {
		switch x := &list[i]; {
		case x.at <= from || x.at < t-handoffAtOnce:
			return false
		case x.lane != lane:
			*w = Wait{At: x.at, From: x.act, Rule: Handoff, Evidence: ByAlignment}
			return true
		}
	}
	return false
}
