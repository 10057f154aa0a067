package whatif

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Work is what is done under one name, or in one place of the program, on threads or on the GPU.
type Work struct {
	Name   string
	Device bool
}

// Done is how often it was done in a window, and how much own time it took, ns.
type Done struct {
	NS     int64
	Events int
}

// Works are the own times of a run by what they are of.
type Works struct {
	ByName  map[Work]Done
	ByPlace map[Work]Done // by module and operator: what two devices call by different names is one
}

// Works sums up own time.
func (m *Model) Works() *Works {
	return &Works{m.works(m.nameOf()), m.works(m.placeOf)}
}

// works sums up own time by what it is of.
func (m *Model) works(called func(a cdg.ActID) string) map[Work]Done {
	out := map[Work]Done{}
	m.eachWork(called, func(w Work, _ cdg.ActID, ns int64) {
		d := out[w]
		out[w] = Done{d.NS + ns, d.Events + 1}
	})
	return out
}

// eachWork calls visit for each activity with own time, with what that is of and the time.
func (m *Model) eachWork(called func(a cdg.ActID) string, visit func(w Work, a cdg.ActID, ns int64)) {
	own := make([]int64, len(m.g.Acts))
	m.eachOwn(func(a cdg.ActID, ns int64) { own[a] += ns })
	for a, ns := range own {
		if ns > 0 {
			visit(Work{called(cdg.ActID(a)), m.g.Trace.Events[m.g.Acts[a].Event].Kind.Device()}, cdg.ActID(a), ns)
		}
	}
}

// nameOf gives the names of activities, normalised.
func (m *Model) nameOf() func(a cdg.ActID) string {
	tr := m.g.Trace
	names := make([]string, len(tr.Syms))
	return func(a cdg.ActID) string {
		s := tr.Events[m.g.Acts[a].Event].Name
		if names[s] == "" {
			names[s] = critpath.NormalName(tr.Str(s))
		}
		return names[s]
	}
}

const modulePrefix = "nn.Module: "

// lineOf is the line in the name of a frame, which differs from version to version.
var lineOf = regexp.MustCompile(`\(\d+\)`)

// placeOf is the innermost operator around an activity, or around the launch of one, behind the innermost module; its own name outside of both.
func (m *Model) placeOf(a cdg.ActID) string {
	tr := m.g.Trace
	at := a
	if launch := tr.Launch(m.g.Acts[a].Event); launch != trace.NoEvent && m.g.ActOf[launch] != cdg.NoAct {
		at = m.g.ActOf[launch]
	}
	operator := ""
	for depth := 0; at != cdg.NoAct && depth < 256; at, depth = m.g.Parent[at], depth+1 {
		e := &tr.Events[m.g.Acts[at].Event]
		if e.Kind == trace.CPUOp && operator == "" {
			operator = tr.Str(e.Name)
		}
		if module, ok := strings.CutPrefix(tr.Str(e.Name), modulePrefix); ok && e.Kind == trace.Python {
			return strings.TrimSuffix(module+" / "+operator, " / ")
		}
	}
	if operator != "" {
		return operator
	}
	return lineOf.ReplaceAllString(critpath.NormalName(tr.Str(tr.Events[m.g.Acts[a].Event].Name)), "")
}

// Undone is a difference between two runs, undone in the later one.
type Undone struct {
	Work
	Before, After Done
	Effect        int64 // what a replay with this undone as well as those that differ more takes back, ns
}

// Explanation is how much of a difference follows from what changed, part by part: the effects and Others make Explained.
type Explanation struct {
	Explained int64    // what the replay of the later run with all times as before takes back, ns
	Others    int64    // of it by all but the largest
	Changes   []Undone // the largest, most effect first
	ByPlace   bool
}

// maxUndone is how many changes are replayed one by one.
const maxUndone = 10

// Explain replays the run with own times as they were in an earlier run, one after the other and all together. Where one did so many steps and the
// other another number, a step is as it was. What the earlier run did and this one does not cannot be put back, and is not explained.
func (m *Model) Explain(before *Works, byPlace bool, stepsBefore, stepsAfter int64) Explanation {
	x := Explanation{ByPlace: byPlace}
	called, was := m.nameOf(), before.ByName
	if byPlace {
		called, was = m.placeOf, before.ByPlace
	}
	sets := map[Work]Set{}
	for w, after := range m.works(called) {
		if b := was[w]; b.NS*stepsAfter != after.NS*stepsBefore {
			x.Changes = append(x.Changes, Undone{Work: w, Before: b, After: after})
			sets[w] = m.NewSet()
		}
	}
	m.eachWork(called, func(w Work, a cdg.ActID, _ int64) {
		if s := sets[w]; s != nil {
			s.Add(a)
		}
	})
	order := func(by func(u *Undone) int64) {
		slices.SortFunc(x.Changes, func(a, b Undone) int {
			p, q := by(&a), by(&b)
			return cmp.Or(cmp.Compare(max(q, -q), max(p, -p)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Before.NS, b.Before.NS))
		})
	}
	order(func(u *Undone) int64 { return u.After.NS*stepsBefore - u.Before.NS*stepsAfter })
	var all []Change
	for i := range x.Changes {
		u := &x.Changes[i]
		all = append(all, Change{Verb: Scale, On: sets[u.Work], Num: u.Before.NS * stepsAfter, Den: u.After.NS * stepsBefore})
	}
	x.Changes = x.Changes[:min(len(x.Changes), maxUndone)]
	windows := make([]int64, len(x.Changes)+1) // with so many of them undone
	par.Each(len(windows), func(i int) { windows[i] = m.Window(&Scenario{Changes: all[:i]}) })
	for i := range x.Changes {
		x.Changes[i].Effect = windows[i] - windows[i+1]
	}
	x.Explained = m.Replay(&Scenario{Changes: all}).Saved()
	x.Others = x.Explained - (windows[0] - windows[len(x.Changes)])
	order(func(u *Undone) int64 { return u.Effect })
	return x
}
