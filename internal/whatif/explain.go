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

// Works are the own times of some runs by what they are of.
type Works struct {
	ByName  map[Work]Done
	ByPlace map[Work]Done // by module and operator: what two devices call by different names is one
	Units   int64         // of work that the runs hold, by which they are compared: steps, or one for each run
}

// Works sums up own time of a run, for one unit.
func (m *Model) Works() *Works {
	return &Works{m.works(m.nameOf()), m.works(m.placeOf), 1}
}

// Add adds those of another run, which may be nil.
func (w *Works) Add(other *Works) *Works {
	if w == nil {
		return other
	}
	for _, x := range [...][2]map[Work]Done{{w.ByName, other.ByName}, {w.ByPlace, other.ByPlace}} {
		for k, d := range x[1] {
			x[0][k] = x[0][k].plus(d)
		}
	}
	w.Units += other.Units
	return w
}

func (d Done) plus(e Done) Done { return Done{d.NS + e.NS, d.Events + e.Events} }

// works sums up own time by what it is of.
func (m *Model) works(called func(a cdg.ActID) string) map[Work]Done {
	out := map[Work]Done{}
	m.eachWork(called, func(w Work, _ cdg.ActID, ns int64) {
		out[w] = out[w].plus(Done{ns, 1})
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

// lineOf is the line in the name of a Python frame, which differs from version to version.
var lineOf = regexp.MustCompile(`\.py\(\d+\): `)

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
	return WithoutLine(critpath.NormalName(tr.Str(tr.Events[m.g.Acts[a].Event].Name)))
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
	Calls     int64    // of it by how often things are called; the rest by how long a call takes
	Others    int64    // of it by all but the largest
	Changes   []Undone // the largest, most effect first
	ByPlace   bool
}

// maxUndone is how many changes are replayed one by one.
const maxUndone = 10

// unlined gives what is done in a line of a file that the other side does not know the name without the line: a change of a program moves what stands below it.
func unlined(others map[Work]Done) func(w Work) Work {
	return func(w Work) Work {
		if _, ok := others[w]; !ok && !w.Device {
			w.Name = WithoutLine(w.Name)
		}
		return w
	}
}

// WithoutLine is the name of a Python frame without its line, and any other name as it is.
func WithoutLine(name string) string { return lineOf.ReplaceAllString(name, ".py: ") }

// renamed sums up by other names.
func renamed(works map[Work]Done, as func(w Work) Work) map[Work]Done {
	out := map[Work]Done{}
	for w, d := range works {
		out[as(w)] = out[as(w)].plus(d)
	}
	return out
}

// Explain replays the run, one of those after, with own times as they were in a unit of those before, one after the other and all together. What
// was done before and is not done after cannot be put back, and is not explained.
func (m *Model) Explain(before, after *Works, byPlace bool) Explanation {
	x := Explanation{ByPlace: byPlace}
	called, was, is := m.nameOf(), before.ByName, after.ByName
	if byPlace {
		called, was, is = m.placeOf, before.ByPlace, after.ByPlace
	}
	as, asBefore := unlined(was), unlined(is)
	was, is = renamed(was, asBefore), renamed(is, as)
	sets := map[Work]Set{}
	for w, a := range is {
		if b := was[w]; b.NS*after.Units != a.NS*before.Units {
			x.Changes = append(x.Changes, Undone{Work: w, Before: b, After: a})
			sets[w] = m.NewSet()
		}
	}
	m.eachWork(called, func(w Work, a cdg.ActID, _ int64) {
		if s := sets[as(w)]; s != nil {
			s.Add(a)
		}
	})
	order := func(by func(u *Undone) int64) {
		slices.SortFunc(x.Changes, func(a, b Undone) int {
			p, q := by(&a), by(&b)
			return cmp.Or(cmp.Compare(max(q, -q), max(p, -p)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Before.NS, b.Before.NS))
		})
	}
	order(func(u *Undone) int64 { return u.After.NS*before.Units - u.Before.NS*after.Units })
	var all, calls []Change
	for i := range x.Changes {
		u := &x.Changes[i]
		all = append(all, Change{Verb: Scale, On: sets[u.Work], Num: u.Before.NS * after.Units, Den: u.After.NS * before.Units})
		calls = append(calls, Change{Verb: Scale, On: sets[u.Work], Num: int64(u.Before.Events) * after.Units, Den: int64(u.After.Events) * before.Units})
	}
	x.Changes = x.Changes[:min(len(x.Changes), maxUndone)]
	windows := make([]int64, len(x.Changes)+1) // with so many of them undone
	par.Each(len(windows), func(i int) { windows[i] = m.Window(&Scenario{Changes: all[:i]}) })
	for i := range x.Changes {
		x.Changes[i].Effect = windows[i] - windows[i+1]
	}
	x.Explained, x.Calls = m.Replay(&Scenario{Changes: all}).Saved(), m.Replay(&Scenario{Changes: calls}).Saved()
	x.Others = x.Explained - (windows[0] - windows[len(x.Changes)])
	order(func(u *Undone) int64 { return u.Effect })
	return x
}
