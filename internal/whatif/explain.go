package whatif

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Work is what is done under one name on threads, or on the GPU.
type Work struct {
	Name   string // normalised
	Device bool
}

// Done is how often it was done in a window, and how much own time it took, ns.
type Done struct {
	NS     int64
	Events int
}

// Works sums up own time by name.
func (m *Model) Works() map[Work]Done {
	out := map[Work]Done{}
	m.eachWork(func(w Work, a cdg.ActID, ns int64) {
		d := out[w]
		d.NS += ns
		d.Events++
		out[w] = d
	})
	return out
}

// eachWork calls visit for each activity with own time, with its name and the time.
func (m *Model) eachWork(visit func(w Work, a cdg.ActID, ns int64)) {
	tr := m.g.Trace
	own := make([]int64, len(m.g.Acts))
	m.eachOwn(func(a cdg.ActID, ns int64) { own[a] += ns })
	names := make([]string, len(tr.Syms))
	name := func(s trace.Sym) string {
		if names[s] == "" {
			names[s] = critpath.NormalName(tr.Str(s))
		}
		return names[s]
	}
	for a, ns := range own {
		if ns > 0 {
			e := &tr.Events[m.g.Acts[a].Event]
			visit(Work{name(e.Name), e.Kind.Device()}, cdg.ActID(a), ns)
		}
	}
}

// Undone is a difference between two runs, undone in the later one.
type Undone struct {
	Work
	Before, After Done
	Effect        int64 // by how much longer this alone made the later run, by a replay without it, ns
}

// Explanation is how much of a measured difference follows from what changed by name.
type Explanation struct {
	Measured  int64    // window after - before, ns
	Explained int64    // of it: what the replay of the later run with all times as before takes back, ns
	Changes   []Undone // the largest, most effect first
}

// maxUndone is how many changes are replayed one by one.
const maxUndone = 10

// Explain replays the run with the own time of each name as it was in an earlier run whose window lasted before ns. What
// the earlier run did and this one does not cannot be put back; it counts as not explained.
func (m *Model) Explain(works map[Work]Done, before int64) Explanation {
	x := Explanation{Measured: m.t1 - m.t0 - before}
	sets := map[Work]Set{}
	for w, after := range m.Works() {
		if was := works[w]; was.NS != after.NS {
			x.Changes = append(x.Changes, Undone{Work: w, Before: was, After: after})
			sets[w] = m.NewSet()
		}
	}
	m.eachWork(func(w Work, a cdg.ActID, _ int64) {
		if s := sets[w]; s != nil {
			s.Add(a)
		}
	})
	undo := func(u *Undone) Change {
		return Change{Verb: Scale, On: sets[u.Work], Num: u.Before.NS, Den: u.After.NS}
	}
	var all Scenario
	for i := range x.Changes {
		all.Changes = append(all.Changes, undo(&x.Changes[i]))
	}
	x.Explained = m.Replay(&all).Saved()
	order := func(by func(u *Undone) int64) {
		slices.SortFunc(x.Changes, func(a, b Undone) int {
			p, q := by(&a), by(&b)
			return cmp.Or(cmp.Compare(max(q, -q), max(p, -p)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Before.NS, b.Before.NS))
		})
	}
	order(func(u *Undone) int64 { return u.After.NS - u.Before.NS })
	x.Changes = x.Changes[:min(len(x.Changes), maxUndone)]
	par.Each(len(x.Changes), func(i int) {
		x.Changes[i].Effect = m.t1 - m.t0 - m.Window(&Scenario{Changes: []Change{undo(&x.Changes[i])}})
	})
	order(func(u *Undone) int64 { return u.Effect })
	return x
}
