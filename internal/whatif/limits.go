package whatif

import (
	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// Range is the window at least and at most, ns: with the delays of sources that did not bind at their shortest and at
// their longest (the 5 % and the 95 % quantile of the trace), and with batches of a data loader that come at the rate of
// its workers, where they seem to come on request. Threads that run free and were done with their work before the end may have to be waited for then.
func (r *Result) Range() (low, high int64) {
	if !r.ranged {
		r.ranged, r.shortest, r.longest = true, r.Window, r.Window
		for q := range r.m.delayed {
			w := r.with(q)
			r.shortest, r.longest = min(r.shortest, w), max(r.longest, w)
		}
		if w, ok := r.atRate(); ok {
			r.shortest, r.longest = min(r.shortest, w), max(r.longest, w)
		}
		for _, p := range r.m.done {
			r.longest = max(r.longest, r.end[p]-r.m.t0)
		}
	}
	return r.shortest, r.longest
}

// quantiles are the delays that sources have which did not bind: the shortest and the longest.
var quantiles = [2]func(*cdg.Usual) int64{func(u *cdg.Usual) int64 { return u.Low }, func(u *cdg.Usual) int64 { return u.High }}

// with is the window of the same scenario with the delays of a quantile, ns.
func (r *Result) with(q int) (window int64) {
	m, p := r.m, r.plan
	if p.edits == nil {
		d := m.delayed[q]()
		p.deps, p.far = d.deps, d.far
	} else {
		p.apply(m)
		p.delay(m, q)
	}
	m.brief(func(x *Result) {
		y := &Result{m: m, plan: p, end: x.end}
		y.run()
		window, x.end = y.Window, y.end
	})
	return window
}

// findDelayed is what delay makes of a plan that leaves the sources as they are.
func (m *Model) findDelayed(q int) *plan {
	p := &plan{depFrom: m.depFrom, deps: m.deps, far: m.far}
	p.apply(m)
	p.delay(m, q)
	return p
}

// delay gives the sources of a plan that did not bind the delays of a quantile.
func (p *plan) delay(m *Model, q int) {
	for i := 1; i < len(m.at); i++ {
		for k := p.depFrom[i]; k < p.depFrom[i+1]; k++ {
			d := &p.deps[k]
			if d.flag&(bound|scaled) != 0 || d.src == 0 {
				continue
			}
			at := m.at[i]
			if m.act[i] != cdg.NoAct {
				at -= m.cost.of(int32(i))
			}
			p.far = d.setLag(min(quantiles[q](&m.g.Usual[d.typical]), at-m.at[d.src]), p.far)
		}
	}
}

// atRate replays the same scenario with batches that come at the rate at which they came; false where none seems to have
// come on request.
func (r *Result) atRate() (window int64, ok bool) {
	m, p := r.m, r.plan
	if !m.asks {
		return 0, false
	}
	p.apply(m)
	var cost spans
	cost.copyOf(&p.cost)
	p.cost = cost
	for i := 1; i < len(m.at); i++ {
		for k := p.depFrom[i]; k < p.depFrom[i+1]; k++ {
			if d := &p.deps[k]; d.flag&onRequest != 0 {
				ok = true
				if m.prev[i] == none { // its first work
					*d = dep{rule: d.rule}
					p.far = d.setLag(m.at[i], p.far)
					continue
				}
				p.cost.set(int32(i), p.cost.of(int32(i))+m.at[i]-m.at[m.prev[i]])
				*d = dep{rule: d.rule}
				p.far = d.setLag(never, p.far)
			}
		}
	}
	if !ok {
		return 0, false
	}
	x := &Result{Scenario: r.Scenario, m: m, plan: p}
	x.run()
	return x.Window, true
}

// Confidence says how far a prediction can be trusted.
type Confidence uint8

// The confidences: the range is at most 5 % of what is saved, at most 25 %, or wider.
const (
	Good Confidence = iota
	Low
	DoNotKnow
)

func (c Confidence) String() string { return [...]string{"good", "low", "do_not_know"}[c] }

// Confidence follows from the range, and from how much of the simulated path rests on something that happens when it
// happened, whatever is changed. A gain below 0.1 % of the window is what it is.
func (r *Result) Confidence() Confidence {
	low, high := r.Range()
	gain := max(r.Saved(), -r.Saved(), r.Recorded()/1000)
	anchored := r.anchored()
	switch {
	case (high-low)*4 > gain:
		return DoNotKnow
	case (high-low)*20 > gain, anchored*20 > r.Window:
		return Low
	}
	return Good
}

// anchored is how much of the simulated window lies before the first point of its path that is not fixed in time.
func (r *Result) anchored() int64 {
	at := r.last.point
	for at > 0 {
		switch {
		case r.by[at] != none:
			src := r.source(at)
			if src == 0 {
				start := r.end[at]
				if r.m.act[at] != cdg.NoAct {
					start -= r.plan.cost.of(at)
				}
				return max(0, start-r.m.t0)
			}
			at = src
		case r.m.prev[at] != none:
			at = r.m.prev[at]
		default:
			return 0
		}
	}
	return 0
}

// Limit is something that a replay does not know, with the time of the simulated path that it concerns.
type Limit struct {
	Reason string
	NS     int64
	Effect string
}

// worthSaying is the share of the window from which a limit is mentioned: one in so many.
const worthSaying = 50

// Limits lists what the replay does not know of the simulated path, whose time by class is given.
func (r *Result) Limits(path *critpath.Totals) []Limit {
	var out []Limit
	add := func(reason string, ns int64, effect string) {
		if ns > 0 && ns*worthSaying >= r.Window {
			out = append(out, Limit{reason, ns, effect})
		}
	}
	add("untraced", path.Class[critpath.ClassUntraced], "time in which nothing was recorded stays as long as it is")
	add("idle", path.Class[critpath.ClassIdle], "threads of a pool wait for work as long as they did")
	add("unexplained", path.Class[critpath.ClassUnexplained], "starts that nothing explains keep their delay")
	add("collectives", path.Class[critpath.ClassComm], "the peers of collectives arrive as they did")
	add("no_known_release", r.anchored(), "what nothing is known to have released starts when it did: the gain may be larger")
	add("threads_beside", r.EndOfAll-r.Window, "threads that run beside go on for longer, and do not count")
	return out
}
