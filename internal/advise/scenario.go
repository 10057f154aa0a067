package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// scenario collects the changes that undo a cause, and what they take from whom.
type scenario struct {
	r       *run
	changes []whatif.Change
	taken   []taken // an activity may be in several
	most    int64   // what is taken in all
	onPath  int64   // what is taken of the critical path
	extra   int64   // more that can be gained than what is taken: gaps before operations that vanish
}

func (r *run) scenario() scenario { return scenario{r: r} }

// take notes what a change takes from each of a list, which has to stay as it is: of tells from whom, and how much.
func take[T any](s *scenario, list []T, of func(x T) (cdg.ActID, int64)) {
	for _, x := range list {
		s.takes(of(x))
	}
	later(s, list, of)
}

// takes counts what a change takes from an activity.
func (s *scenario) takes(a cdg.ActID, ns int64) {
	if ns > 0 {
		s.most += ns
		s.onPath += min(ns, s.r.mark(a))
	}
}

// later is take where what is taken was counted.
func later[T any](s *scenario, list []T, of func(x T) (cdg.ActID, int64)) {
	s.taken = append(s.taken, func(yield func(cdg.ActID, int64) bool) {
		for _, x := range list {
			if a, ns := of(x); ns > 0 && !yield(a, ns) {
				return
			}
		}
	})
}

// percents is how finely activities are told apart whose time is multiplied.
const percents = 50

// scale gives each activity of a list a time of its own: what its own time becomes is told by to. That is asked again when the run
// has forgotten what only rules look at. Ratios are rounded to
// two percent, so that there are few changes.
func (s *scenario) scale(list []cdg.ActID, to func(a cdg.ActID, own int64) int64) {
	var sets [percents]whatif.Set
	share := func(a cdg.ActID) int64 {
		own := s.r.own(a)
		if own <= 0 {
			return percents
		}
		return min((max(to(a, own), 0)*percents+own/2)/own, percents)
	}
	own := s.r.own
	for _, a := range list {
		k := share(a)
		if k == percents {
			continue
		}
		s.takes(a, own(a)-own(a)*k/percents)
		if sets[k] == nil {
			sets[k] = s.r.m.NewSet()
		}
		sets[k].Add(a)
	}
	later(s, list, func(a cdg.ActID) (cdg.ActID, int64) { return a, own(a) - own(a)*share(a)/percents })
	for k, set := range sets {
		if set != nil {
			s.changes = append(s.changes, whatif.Change{Verb: whatif.Scale, On: set, Num: int64(k), Den: percents})
		}
	}
}

// zero takes all own time of a list.
func (s *scenario) zero(list []cdg.ActID) {
	s.scale(list, func(cdg.ActID, int64) int64 { return 0 })
}

// shrink gives each slice of a list some ns in all, with what it encloses; those that take less keep their time.
func (s *scenario) shrink(slices []cdg.ActID, ns int64) {
	set := s.r.m.NewSet()
	any := false
	for _, a := range slices {
		if s.r.dur(a) > ns {
			set.Add(a)
			any = true
		}
	}
	if !any {
		return
	}
	s.changes = append(s.changes, whatif.Change{Verb: whatif.Shrink, On: set, NS: ns})
	type inside struct{ act, of cdg.ActID }
	var list []inside
	s.r.outer(set, func(of, limit cdg.ActID) {
		for a := of; a < min(limit, s.r.firstOp); a++ {
			if s.r.own(a) > 0 {
				list = append(list, inside{a, of})
			}
		}
	})
	own, dur := s.r.own, s.r.dur
	take(s, list, func(x inside) (cdg.ActID, int64) {
		kept := float64(min(ns, dur(x.of))) / float64(max(dur(x.of), 1)) // a product of two times in ns may not fit int64
		return x.act, own(x.act) - int64(float64(own(x.act))*kept)
	})
}

// gapOfRemoved is more than what lies before an operation in its stream, ns.
const gapOfRemoved = 10_000

// remove lets operations vanish, with the gaps before them.
func (s *scenario) remove(list []cdg.ActID) {
	if len(list) == 0 {
		return
	}
	s.changes = append(s.changes, whatif.Change{Verb: whatif.Remove, On: s.r.m.SetOf(list...)})
	own := s.r.own
	take(s, list, func(a cdg.ActID) (cdg.ActID, int64) { return a, own(a) })
	s.extra += int64(len(list)) * gapOfRemoved
}

// replace lets the last of some operations of a stream do the work of all.
func (s *scenario) replace(list []cdg.ActID, ns int64) {
	if len(list) == 0 {
		return
	}
	s.changes = append(s.changes, whatif.Change{Verb: whatif.Replace, On: s.r.m.SetOf(list...), NS: ns})
	own := s.r.own
	whole := sum(list, func(a cdg.ActID) int64 { return own(a) })
	take(s, list, func(a cdg.ActID) (cdg.ActID, int64) { return a, own(a) - own(a)*min(ns, whole)/max(whole, 1) })
	s.extra += int64(len(list)) * gapOfRemoved
}

// noWait lets calls return without waiting, and so do synchronisations that follow in the same operator: they had nothing
// to wait for any more, and would have now. After the last launch they wait for what is queued, whatever is changed.
func (s *scenario) noWait(list []wait) {
	_, last := s.r.spanOfLaunches()
	list = slices.DeleteFunc(slices.Clone(list), func(w wait) bool { return s.r.g.Acts[w.call].Start >= last })
	if len(list) == 0 {
		return
	}
	set, seen, syncs := s.r.m.NewSet(), s.r.m.NewSet(), s.r.syncs()
	for _, w := range list {
		set.Add(w.call)
		op := s.r.opAround(w.call)
		if op == cdg.NoAct || seen.Has(op) {
			continue
		}
		seen.Add(op)
		from, _ := slices.BinarySearch(syncs, op)
		for _, c := range syncs[from:] {
			if c >= s.r.g.Enclosed(op) {
				break
			}
			if s.r.opAround(c) == op {
				set.Add(c)
			}
		}
	}
	own := s.r.own
	take(s, list, func(w wait) (cdg.ActID, int64) { return w.call, max(w.ns, own(w.call)) })
	s.extra += int64(len(list)) * gapOfRemoved
	s.changes = append(s.changes, whatif.Change{Verb: whatif.NoWait, On: set})
}

// findSyncs lists the synchronising calls.
func (r *run) findSyncs() []cdg.ActID {
	return r.named(callKinds, func(s string) bool { return vendors.VerbOf(s).Blocks() })
}

// waitsIn lists the waits of calls inside of slices that within found.
func (r *run) waitsIn(in enclosed) []wait {
	var out []wait
	for _, w := range r.waits {
		if in.by(w.call) != cdg.NoAct {
			out = append(out, w)
		}
	}
	return out
}

// atMost bounds what the scenario can gain, ns: the time that it removes on all threads and streams. Where no wait is removed, the bound is the time removed on
// the critical path, which stays a chain of dependent activities.
func (s *scenario) atMost() int64 {
	if slices.ContainsFunc(s.changes, func(c whatif.Change) bool { return c.Verb == whatif.NoWait }) {
		return s.most + s.extra
	}
	return min(s.most, s.onPath) + s.extra
}
