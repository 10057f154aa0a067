package clock

import (
	"cmp"
	"math"
	"slices"
)

// lows are the least of some reaches, in ns.
type lows struct {
	low [3]int64 // ascending
	n   int      // of how many
}

var nothing = lows{low: [3]int64{NoWitness, NoWitness, NoWitness}}

func (l *lows) add(reach int64) {
	l.n++
	for i := range l.low {
		if reach < l.low[i] {
			reach, l.low[i] = l.low[i], reach
		}
	}
}

func (l lows) join(m lows) lows {
	n := l.n + m.n
	for _, reach := range m.low {
		l.add(reach)
	}
	l.n = n
	return l
}

// least is the witness. One wrong record must not set a clock, so of many it is not the very least.
func (l lows) least() int64 {
	switch {
	case l.n < 16:
		return l.low[0]
	case l.n < 100:
		return l.low[1]
	}
	return l.low[2]
}

// agrees reports whether several say what the least one does.
func (l lows) agrees() bool { return l.low[2]-l.low[0] <= usualMost }

// stretch is a time in which the clock of a device was off by as much, or by what grows steadily.
type stretch struct {
	from, to    int64   // ns, as recorded
	begun, held int64   // the end of its first piece, and the start of the last one that its offset fits, which may hold the step
	launch, ret lows    // as recorded; with drift, at from
	late        int64   // ns by which the clock is late at from
	drift       float64 // how much it grows by the ns
	err         int64   // by which late may be wrong, ns; 0: the witnesses do not say whether the clock is off
}

func (s *stretch) join(next *stretch) {
	s.to, s.held, s.launch, s.ret = next.to, next.held, s.launch.join(next.launch), s.ret.join(next.ret)
}

// reserve is L + R, as far as there are both.
func (s *stretch) reserve() int64 {
	return min(s.launch.least(), NoWitness/2) + min(s.ret.least(), NoWitness/2)
}

// tight reports whether two witnesses tell between them where the clock is: neither waited for anything else.
func (s *stretch) tight() bool {
	_, _, ok := s.between()
	return ok
}

// between returns L and R if they tell where the clock is. Where few launches find the device idle, only the very least is one of those.
// Where there are many of both kinds, some of each had not to wait, however slow the device is.
func (s *stretch) between() (l, r int64, ok bool) {
	most := int64(2 * usualMost)
	if min(s.launch.n, s.ret.n) >= manySamples {
		most = 3 * usualMost
	}
	if l, r = s.launch.least(), s.ret.least(); s.reserve() > most {
		l, r = s.launch.low[0], s.ret.low[0]
	}
	both := min(l, NoWitness/2) + min(r, NoWitness/2)
	return l, r, both >= agree && both <= most
}

// manySamples are enough of one kind for the least of them to say how long the device takes.
const manySamples = 16

// judge finds out from the witnesses by how much the clock is late. Where both are tight the truth is between them. One alone tells only
// that the clock is off, by what cannot be.
func (s *stretch) judge() {
	l, r, tight := s.between()
	s.late, s.err = 0, 0
	switch {
	case tight:
		late, err := middle(l, r)
		if min(l, r) < usualLeast && max(late, -late) >= agree { // a large one may only have had to wait
			s.late = late
		}
		s.err = err
	case s.reserve() < usual:
	case r < 0 && s.ret.agrees():
		s.late, s.err = usual-r, usualMost
	case l < 0 && s.launch.agrees():
		s.late, s.err = l-usual, usualMost
	}
}

// middle is by how much a clock is late between two witnesses, and by how much this may be wrong. The larger one may have had to wait where
// both together are more than a device takes, so the other one is left with no more than that.
func middle(l, r int64) (late, err int64) {
	less := (l + r) / 2
	err = less
	if less > usualHalf {
		less, err = usualHalf, l+r-usualHalf
	}
	if l < r {
		return l - less, err
	}
	return less - r, err
}

// suspect reports whether the witnesses of the whole trace say that its clock is off somewhere.
func (w *witnesses) suspect() bool {
	s := stretch{launch: w.launch, ret: nothing}
	for _, r := range w.returns {
		s.ret.add(r.reach)
	}
	s.judge()
	return s.late != 0 || s.err == 0 && s.reserve() < agree
}

// solve finds the stretches in which the clock was off; none where it was right, or where nothing is known.
func (w *witnesses) solve() []stretch {
	list := w.steps(grow(w.units()))
	if s, ok := w.slope(list); ok {
		return []stretch{s}
	}
	for i := range list {
		if s := &list[i]; s.err == 0 { // as before; as after if nothing is known of before
			for _, near := range append(list[:i:i], list[i+1:]...) {
				if near.err > 0 {
					s.late, s.err = near.late, near.err
				}
				if near.err > 0 && near.from > s.from {
					break
				}
			}
		}
	}
	return slices.DeleteFunc(list, func(s stretch) bool { return s.late == 0 || s.from >= s.to })
}

// mostUnits is in how many a trace is cut where steps are looked for.
const mostUnits = 256

// units cuts the time into pieces with a return each, as far as there are any.
func (w *witnesses) units() []stretch {
	var units []stretch
	each := (len(w.returns) + mostUnits - 1) / mostUnits
	launches, returns := w.launches, w.returns
	for from := w.first; ; {
		u := stretch{from: from, to: w.last + 1, launch: nothing, ret: nothing}
		if len(returns) >= 2*each && each > 0 {
			u.to = returns[each-1].at + 1
		}
		for ; len(returns) > 0 && returns[0].at < u.to; returns = returns[1:] {
			u.ret.add(returns[0].reach)
		}
		for ; len(launches) > 0 && launches[0].at < u.to; launches = launches[1:] {
			u.launch.add(launches[0].reach)
		}
		u.begun, u.held = u.to, u.from
		units = append(units, u)
		if from = u.to; from > w.last {
			return units
		}
	}
}

// leastReserve is what L + R of a stretch has to be, at least, in which the clock does not step: L + R of most units, and a little less.
func leastReserve(units []stretch) int64 {
	var list []int64
	for i := range units {
		if units[i].tight() {
			list = append(list, units[i].reserve())
		}
	}
	if len(list) == 0 {
		return agree
	}
	slices.Sort(list)
	return max(agree, list[len(list)/4]-agree)
}

// grow joins units as long as one offset fits them.
func grow(units []stretch) []stretch {
	floor := leastReserve(units)
	var list []stretch
	for _, u := range units {
		if n := len(list); n > 0 {
			x := list[n-1]
			if x.join(&u); x.reserve() >= floor {
				list[n-1] = x
				continue
			}
		}
		list = append(list, u)
	}
	return list
}

// steps keeps the borders between stretches at which both witnesses jump against each other, and says when that was.
func (w *witnesses) steps(list []stretch) []stretch {
	out := list[:0:0]
	for _, s := range list {
		s.judge()
		n := len(out)
		switch {
		case n == 0:
			out = append(out, s)
		case s.err == 0: // the step is in there, or nothing
			out[n-1].to = s.to
		case out[n-1].err == 0:
			s.from = out[n-1].from // nothing is known of before
			out[n-1] = s
		default:
			for n > 0 && !steps(&out[n-1], &s) { // no step after all
				before := out[n-1]
				before.join(&s)
				before.judge()
				s, out, n = before, out[:n-1], n-1
			}
			out = append(out, s)
		}
	}
	for i := 1; i < len(out); i++ {
		a, b := &out[i-1], &out[i]
		b.from = w.moment(a, b)
		a.to = b.from
	}
	return out
}

// steps reports whether the witnesses of two stretches jump against each other, so that no offset fits both.
func steps(a, b *stretch) bool {
	if !a.tight() || !b.tight() {
		return true
	}
	if both := *a; true {
		if both.join(b); both.reserve() < agree {
			return true
		}
	}
	l, r := b.launch.least()-a.launch.least(), a.ret.least()-b.ret.least()
	return l*r > 0 && min(max(l, -l), max(r, -r)) >= agree
}

// moment is when the clock stepped between two stretches: where the first operation began after its launch by less than fits the one before,
// or the last one by less than fits the one after.
func (w *witnesses) moment(a, b *stretch) int64 {
	from, _ := slices.BinarySearchFunc(w.launches, a.held, func(s sample, at int64) int { return cmp.Compare(s.at, at) })
	at, later := b.from, b.late > a.late
	if later {
		at = a.held + 1
	}
	for i := from; i < len(w.launches) && w.launches[i].at < b.begun; i++ {
		s := &w.launches[i]
		switch {
		case !later && s.reach < a.launch.least()-agree/2:
			return s.at
		case later && s.reach < b.launch.least()-agree/2:
			at = s.at + 1
		}
	}
	return at
}

// slope fits a steady drift, where both witnesses slide against each other all the time, and steps fit no better.
func (w *witnesses) slope(steps []stretch) (stretch, bool) {
	s := stretch{from: w.first, to: w.last + 1}
	n := len(w.returns)
	if n < 4 || len(w.launches) == 0 {
		return s, false
	}
	at := func(drift float64, launches, returns []sample) stretch {
		x := stretch{launch: nothing, ret: nothing}
		for _, l := range launches {
			x.launch.add(l.reach - int64(drift*float64(l.at-w.first)))
		}
		for _, r := range returns {
			x.ret.add(r.reach + int64(drift*float64(r.at-w.first)))
		}
		return x
	}
	reserve := func(drift float64) int64 {
		x := at(drift, w.launches, w.returns)
		return x.reserve()
	}
	lo, hi := -fastest, fastest
	for range 50 { // L + R is concave in the drift
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if reserve(a) < reserve(b) {
			lo = a
		} else {
			hi = b
		}
	}
	best := (lo + hi) / 2
	most := reserve(best)
	edge := func(in, out float64) float64 { // the last drift on the way out that fits as well, as exactly as the trace counts
		for range 30 {
			if m := (in + out) / 2; reserve(m) > most-w.grain {
				in = m
			} else {
				out = m
			}
		}
		return in
	}
	drift := (edge(best, -fastest) + edge(best, fastest)) / 2
	level, slid := at(0, w.launches, w.returns), at(drift, w.launches, w.returns)
	gain := slid.reserve() - level.reserve() // by as much as the clock went, if it did all the time
	for i := range steps {
		if x := &steps[i]; x.tight() && len(steps) > 1 && x.reserve() > slid.reserve()+agree/3 {
			return s, false
		}
	}
	if !slid.tight() || gain < max(agree, int64(math.Abs(drift)*float64(w.last-w.first)/2)) {
		return s, false
	}
	half, _ := slices.BinarySearchFunc(w.launches, w.returns[n/2].at, func(s sample, at int64) int { return cmp.Compare(s.at, at) })
	before, after := at(drift, w.launches[:half], w.returns[:n/2]), at(drift, w.launches[half:], w.returns[n/2:])
	if !before.tight() || !after.tight() {
		return s, false
	}
	l, r, _ := slid.between()
	s.launch, s.ret, s.drift = slid.launch, slid.ret, drift
	s.late, s.err = middle(l, r)
	return s, true
}
