package whatif

import (
	"overlay/internal/par"
)

// Result is a replayed run.
type Result struct {
	Scenario *Scenario
	Window   int64 // how long the window would have been, ns
	EndOfAll int64 // how long until the last thread of all is done, those that run free included, ns

	m    *Model
	plan *plan
	end  []int64 // per point: when it happens; of operations, when it is over
	by   []int32 // per point: the source that was over last, an index into plan.deps; none for the point before
	last end     // what ended the window

	ranged            bool // the range is known
	shortest, longest int64
}

// Replay replays the run with the changes of a scenario, all at once.
func (m *Model) Replay(s *Scenario) *Result {
	r := &Result{Scenario: s, m: m, plan: m.plan(s)}
	r.run()
	return r
}

// ReplayAll replays several scenarios side by side, in order.
func (m *Model) ReplayAll(list []Scenario) []*Result {
	out := make([]*Result, len(list))
	par.Each(len(list), func(i int) { out[i] = m.Replay(&list[i]) })
	return out
}

const never = -1 << 62

// run computes when everything happens.
func (r *Result) run() {
	m, p := r.m, r.plan
	n := len(m.at)
	end, by := make([]int64, n), make([]int32, n)
	prev, cost, depFrom := m.prev[:n], p.cost[:n], p.depFrom[:n+1]
	for i := 1; i < n; i++ {
		t, because := int64(never), none
		c := cost[i]
		b := prev[i]
		if b != none {
			t, c = end[b]+c, 0
		}
		for k := depFrom[i]; k < depFrom[i+1]; k++ {
			d := &p.deps[k]
			src := d.src
			if d.flag&moving != 0 {
				if src = m.lastPut(&m.beside[d.beside], end, int32(i)); src == none {
					continue
				}
			}
			v := end[src] + d.lag
			if d.lag < 0 {
				v = max(v, end[src]-cost[src])
			}
			if v > t || v == t && d.flag&bound != 0 {
				t, because = v, k
			}
		}
		if t == never { // an operation whose every source was taken away
			t = m.t0
		}
		end[i], by[i] = t+c, because
	}
	r.end, r.by = end, by
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
