package whatif

import (
	"slices"

	"overlay/internal/par"
)

// Result is a replayed run.
type Result struct {
	Scenario *Scenario
	Window   int64 // how long the window would have been, ns
	EndOfAll int64 // how long until the last thread of all is done, those that run free included, ns

	m    *Model
	plan plan
	end  []int64 // per point: when it happens; of operations, when it is over
	by   []int32 // per point: the source that was over last, an index into plan.deps; none for the point before
	last end     // what ended the window

	ranged            bool // the range is known
	shortest, longest int64
}

// Replay replays the run with the changes of a scenario, all at once.
func (m *Model) Replay(s *Scenario) *Result {
	r := &Result{}
	r.replay(m, s)
	return r
}

// replay makes r the result of a replay, in the room that it has.
func (r *Result) replay(m *Model, s *Scenario) {
	*r = Result{Scenario: s, m: m, plan: r.plan, end: r.end, by: r.by}
	m.plan(&r.plan, s)
	r.by = slices.Grow(r.by[:0], len(m.at))[:len(m.at)]
	r.run()
}

// brief gives use the room for a result, which is not valid afterwards: replays that are asked for a number take turns in the
// same memory.
func (m *Model) brief(use func(*Result)) {
	m.slots <- struct{}{}
	defer func() { <-m.slots }()
	m.mu.Lock()
	r := &Result{}
	if n := len(m.spare); n > 0 {
		r, m.spare = m.spare[n-1], m.spare[:n-1]
	}
	m.mu.Unlock()
	use(r)
	m.mu.Lock()
	m.spare = append(m.spare, r)
	m.mu.Unlock()
}

// Window is how long the window would have been with the changes of a scenario, ns: what Replay says, at less cost.
func (m *Model) Window(s *Scenario) (ns int64) {
	m.brief(func(r *Result) {
		*r = Result{Scenario: s, m: m, plan: r.plan, end: r.end, by: r.by}
		by := r.by
		m.plan(&r.plan, s)
		r.by = nil
		r.run()
		ns, r.by = r.Window, by
	})
	return ns
}

// ReplayAll replays several scenarios side by side, in order.
func (m *Model) ReplayAll(list []Scenario) []*Result {
	out := make([]*Result, len(list))
	par.Each(len(list), func(i int) { out[i] = m.Replay(&list[i]) })
	return out
}

const never = -1 << 62

// run computes when everything happens, and because of what unless r.by is nil.
func (r *Result) run() {
	m, p := r.m, &r.plan
	n := len(m.at)
	end, by := slices.Grow(r.end[:0], n)[:n], r.by
	end[0] = 0
	if by != nil {
		by[0] = 0
	}
	prev, cost, depFrom, far, e := m.prev[:n], p.cost.short[:n], p.depFrom[:n+1], p.far, p.edits
	for i := int32(1); i < int32(n); i++ {
		t, because := int64(never), none
		c := int64(cost[i])
		if c == longSpan {
			c = p.cost.long[i]
		}
		b := prev[i]
		if b != none {
			t, c = end[b]+c, 0
		}
		gone := e != nil && e.gone(m, i)
		for k, limit := depFrom[i], depFrom[i+1]; k < limit; k++ {
			d := &p.deps[k]
			src, lag := d.src, int64(d.lag)
			if d.flag&distant != 0 {
				lag = d.lagOf(far)
			}
			if e != nil && (gone || e.changed[d.kind]) {
				var ok bool
				if lag, _, ok = e.source(m, i, gone, d, lag); !ok {
					continue
				}
			}
			if d.flag&moving != 0 {
				if src = m.lastPut(&m.beside[d.wait], end, i); src == none {
					continue
				}
			}
			v := end[src] + lag
			if lag < 0 {
				v = max(v, end[src]-p.cost.of(src))
			}
			if v > t || v == t && d.flag&bound != 0 {
				t, because = v, k
			}
		}
		if t == never { // an operation whose every source was taken away
			t = m.t0
		}
		end[i] = t + c
		if by != nil {
			by[i] = because
		}
	}
	r.end = end
	best := int64(never)
	for _, e := range m.ends {
		if t := end[e.point] + e.after; t > best {
			best, r.last = t, e
		}
	}
	r.Window, r.EndOfAll = best-m.t0, best-m.t0
	for _, e := range m.all {
		r.EndOfAll = max(r.EndOfAll, end[e]-m.t0)
	}
}

// Recorded is how long the window was, ns.
func (r *Result) Recorded() int64 { return r.m.t1 - r.m.t0 }

// Saved is by how much the window is shorter than the recorded one, ns; negative: longer.
func (r *Result) Saved() int64 { return r.Recorded() - r.Window }

// Model is what was replayed.
func (r *Result) Model() *Model { return r.m }
