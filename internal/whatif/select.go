package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Selector finds activities of a model's window by text, each text once. One goroutine asks at a time, and changes no set.
type Selector struct {
	m     *Model
	also  func(string) string // how reports show a name; it may be asked for so
	known map[string]Set      // by text: sliders ask for the same again and again
}

// NewSelector returns a selector for a model. shown is how reports show a name, so that names can be copied from there;
// nil: names are only known as they are recorded.
func NewSelector(m *Model, shown func(string) string) *Selector {
	return &Selector{m, shown, map[string]Set{}}
}

// Select returns the activities that a text means:
//
//	aten::copy_          of that name, as in the trace or as reports show it; * stands for anything; of what graphs replay
//	                     also the operator, module or line that their capture recorded
//	class:cpu            compute, comm, copy, cpu (with calls and frames), runtime (calls), python (frames)
//	phase:Forward        of that training phase
//	stream:7  stream:1/7 operations on that stream, of device 1
//	thread:4242          slices of that thread, by its id or its name
//	step:3               what begins in ProfilerStep#3, or in the iteration of that number, with the operations that are launched in it
//	annotation:NAME      what lies in slices whose name contains NAME, with the operations that are launched there
//	under:NAME           slices of that name and all that they enclose on their thread
//	name:NAME            a name that looks like one of the above
//	A in B               what both mean; B has one of these prefixes
//
// An error names the part that selects nothing in this window, with a similar name that would, or says that the selector selects everything.
func (s *Selector) Select(text string) (Set, error) {
	text = strings.TrimSpace(text)
	if set, ok := s.known[text]; ok {
		return set, nil
	}
	rest, out := text, Set(nil)
	for rest != "" {
		i := lastIn(rest)
		term := rest
		if i >= 0 {
			term, rest = rest[i+len(" in "):], rest[:i]
		} else {
			rest = ""
		}
		set, err := s.term(strings.TrimSpace(term))
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = set
		} else {
			out = out.And(set)
		}
	}
	n, all := 0, 0
	for a := range s.m.g.Acts {
		if s.m.inWindow(cdg.ActID(a)) {
			all++
			if out.Has(cdg.ActID(a)) {
				n++
			}
		}
	}
	switch {
	case text == "":
		return nil, fmt.Errorf("a change without a selector: say what is to change, as in aten::copy_=0.5")
	case n == 0 && slices.ContainsFunc([]string{"rank:", "host:", "group:", "transfer"}, func(p string) bool { return strings.HasPrefix(text, p) || strings.Contains(text, " in "+p) }):
		return nil, fmt.Errorf("%q selects nothing: it is for the traces of several ranks, and here is one", text)
	case n == 0:
		return nil, fmt.Errorf("%q selects nothing in the window%s", text, s.near(text))
	case n == all && all > 1:
		return nil, fmt.Errorf("%q selects all %d activities of the window: say which are to change, as in class:cpu=0.5", text, all)
	}
	s.known[text] = out
	return out, nil
}

// prefixes are the kinds of terms.
var prefixes = []string{"class:", "phase:", "stream:", "thread:", "step:", "annotation:", "under:", "name:"}

// lastIn finds the last " in " that is followed by a term with a prefix: names may hold the word too.
func lastIn(s string) int {
	for i := strings.LastIndex(s, " in "); i >= 0; i = strings.LastIndex(s[:i], " in ") {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s[i+len(" in "):], p) }) {
			return i
		}
	}
	return -1
}

// inWindow reports whether an activity has some of its time in the window.
func (m *Model) inWindow(a cdg.ActID) bool {
	act := &m.g.Acts[a]
	return act.Start < m.t1 && act.End > m.t0 || act.Start == act.End && act.Start >= m.t0 && act.Start <= m.t1
}

func (s *Selector) term(text string) (Set, error) {
	kind, arg, prefixed := strings.Cut(text, ":")
	if !prefixed || !slices.Contains(prefixes, kind+":") {
		return s.named(text), nil
	}
	arg = strings.TrimSpace(arg)
	switch kind {
	case "class":
		return s.class(arg)
	case "phase":
		for p := range phases.NumPhases {
			if strings.EqualFold(p.String(), arg) {
				return s.events(func(id trace.EventID) bool { return s.m.g.Phases[id] == p }), nil
			}
		}
		return nil, fmt.Errorf("no phase %q: DataLoad, Forward, Loss, Backward, Communication, Update, Other", arg)
	case "stream":
		return s.stream(arg)
	case "thread":
		return s.lanes(func(l *cdg.Lane) bool {
			t := &s.m.g.Trace.Tracks[l.Track]
			return !l.Stream && (s.m.g.Trace.TokenText(t.TID) == arg || t.Name == arg)
		}), nil
	case "step":
		return s.step(arg)
	case "annotation":
		return s.within(s.syms(func(n string) bool { return strings.Contains(n, arg) }), true), nil
	case "under":
		return s.within(s.matching(arg), false), nil
	}
	return s.named(arg), nil
}

// syms asks a question of every name, once.
func (s *Selector) syms(match func(string) bool) []bool {
	hit := make([]bool, len(s.m.g.Trace.Syms))
	for i, n := range s.m.g.Trace.Syms {
		hit[i] = match(n)
	}
	return hit
}

// matching is the names that a pattern means.
func (s *Selector) matching(pattern string) []bool {
	if strings.Contains(pattern, "*") {
		hit := s.syms(func(n string) bool { return Glob(pattern, n) })
		return hit
	}
	return s.syms(func(n string) bool {
		return n == pattern || critpath.NormalName(n) == pattern || s.also != nil && s.also(critpath.NormalName(n)) == pattern
	})
}

// Glob matches a name with a pattern in which * stands for anything.
func Glob(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return name == pattern
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	last := parts[len(parts)-1]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(name, p)
		if i < 0 {
			return false
		}
		name = name[i+len(p):]
	}
	return len(name) >= len(last) && strings.HasSuffix(name, last)
}

func (s *Selector) named(pattern string) Set {
	hit, tr := s.matching(pattern), s.m.g.Trace
	return s.events(func(id trace.EventID) bool {
		o := tr.Origin(id)
		return hit[tr.Events[id].Name] || o != nil && (hit[o.Operator] || hit[o.Module] || hit[o.Line])
	})
}

func (s *Selector) events(match func(trace.EventID) bool) Set {
	out := s.m.NewSet()
	for a := range s.m.g.Acts {
		if match(s.m.g.Acts[a].Event) {
			out.Add(cdg.ActID(a))
		}
	}
	return out
}

func (s *Selector) lanes(match func(*cdg.Lane) bool) Set {
	out := s.m.NewSet()
	for l := range s.m.g.Lanes {
		if lane := &s.m.g.Lanes[l]; match(lane) {
			for a := lane.First; a < lane.Limit; a++ {
				out.Add(a)
			}
		}
	}
	return out
}

func (s *Selector) stream(arg string) (Set, error) {
	device, number, ok := strings.Cut(arg, "/")
	if !ok {
		device, number = "", arg
	}
	n, err := strconv.ParseInt(number, 10, 64)
	d, err2 := int64(-1), error(nil)
	if ok {
		d, err2 = strconv.ParseInt(device, 10, 64)
	}
	if err != nil || err2 != nil {
		return nil, fmt.Errorf("%q is no stream: stream:7, or stream:1/7 for that of device 1", arg)
	}
	return s.lanes(func(l *cdg.Lane) bool {
		return l.Stream && l.Number == n && (d < 0 || s.m.g.Trace.Procs[l.Proc].Device == d)
	}), nil
}

// step is what begins in a step; operations count by their launch.
func (s *Selector) step(arg string) (Set, error) {
	g := s.m.g
	if kind, number, ok := trace.ReadStep(arg); ok && number < 0 {
		of := g.Steps[:0:0]
		for _, x := range g.Steps {
			if x.Of.Type == kind {
				of = append(of, x)
			}
		}
		if len(of) > 0 {
			return s.launched(func(a cdg.ActID) bool {
				at := g.Acts[a].Start
				i, _ := slices.BinarySearchFunc(of, at+1, func(x cdg.Step, t int64) int { return cmp.Compare(x.Start, t) })
				return i > 0 && at < of[i-1].End
			}), nil
		}
	}
	for i := range g.Steps {
		if x := &g.Steps[i]; x.Name == arg || x.Name == trace.StepPrefix+arg || strconv.FormatInt(x.Number, 10) == arg {
			return s.launched(func(a cdg.ActID) bool { return g.Acts[a].Start >= x.Start && g.Acts[a].Start < x.End }), nil
		}
	}
	return nil, fmt.Errorf("no step %q in the trace", arg)
}

// launched is the slices of threads for which match holds, and the operations whose launch is one of them; operations
// without a recorded launch count by themselves.
func (s *Selector) launched(match func(cdg.ActID) bool) Set {
	g := s.m.g
	out := s.m.NewSet()
	for a := range g.Acts {
		by := cdg.ActID(a)
		if g.Lanes[g.Acts[a].Lane].Stream {
			if l := g.Trace.Launch(g.Acts[a].Event); l != trace.NoEvent && g.ActOf[l] != cdg.NoAct {
				by = g.ActOf[l]
			}
		}
		if match(by) {
			out.Add(cdg.ActID(a))
		}
	}
	return out
}

// within is the slices of the given names with all that they enclose on their thread, and if asked the operations that
// are launched there.
func (s *Selector) within(names []bool, ops bool) Set {
	g := s.m.g
	inside := make([]bool, len(g.Acts))
	for a := range g.Acts {
		p := g.Parent[a]
		inside[a] = !g.Lanes[g.Acts[a].Lane].Stream && names[g.Trace.Events[g.Acts[a].Event].Name] || p != cdg.NoAct && inside[p]
	}
	if ops {
		return s.launched(func(a cdg.ActID) bool { return inside[a] })
	}
	out := s.m.NewSet()
	for a, in := range inside {
		if in {
			out.Add(cdg.ActID(a))
		}
	}
	return out
}

// Class is what an activity does, as far as selectors tell it apart.
type Class uint8

// The classes.
const (
	CPUClass     Class = iota // ops and annotations
	RuntimeClass              // calls
	PythonClass               // frames
	ComputeClass
	CommClass
	CopyClass
)

// classNames are the classes by the words of selectors, those of the path's classes among them.
var classNames = map[string][]Class{
	"cpu": {CPUClass, RuntimeClass, PythonClass}, "runtime": {RuntimeClass}, "python": {PythonClass},
	"compute": {ComputeClass}, "gpu_compute": {ComputeClass}, "comm": {CommClass}, "communication": {CommClass}, "copy": {CopyClass},
}

// delayNames are the classes of the path that are delays, by the words of selectors.
var delayNames = map[string]DelayClass{"launch": LaunchDelays, "sync": SyncDelays, "handoff": HandoffDelays, "unexplained": UnknownDelays, "untraced": Untraced}

func (s *Selector) class(arg string) (Set, error) {
	want, ok := classNames[arg]
	if !ok {
		return nil, fmt.Errorf("no class %q: compute, comm, copy, cpu, runtime, python; of delays launch, sync, handoff, unexplained, untraced", arg)
	}
	out := s.m.NewSet()
	for a, c := range s.m.class() {
		if slices.Contains(want, c) {
			out.Add(cdg.ActID(a))
		}
	}
	return out, nil
}

// classes tells the classes of activities.
func (m *Model) classes(acts []cdg.Act) []Class {
	tr := m.g.Trace
	comm := tr.ByName(vendors.IsCollective)
	out := make([]Class, len(acts))
	for a := range acts {
		e := &tr.Events[acts[a].Event]
		switch {
		case e.Kind.Call():
			out[a] = RuntimeClass
		case e.Kind == trace.Python:
			out[a] = PythonClass
		case e.Kind == trace.Memcpy, e.Kind == trace.Memset:
			out[a] = CopyClass
		case e.Kind == trace.GraphNode, !e.Kind.Device():
			out[a] = CPUClass
		default:
			if out[a] = ComputeClass; comm(e.Name) {
				out[a] = CommClass
			}
		}
	}
	return out
}

// near names what a text that means nothing may have meant: names that contain its letters, those with the most time first.
func (s *Selector) near(text string) string {
	word := strings.ToLower(strings.Trim(text, "* "))
	if i := strings.LastIndex(word, ":"); i >= 0 && i+1 < len(word) {
		word = word[i+1:]
	}
	g := s.m.g
	time := map[trace.Sym]int64{}
	s.m.eachOwn(func(a cdg.ActID, ns int64) { time[g.Trace.Events[g.Acts[a].Event].Name] += ns })
	var names []trace.Sym
	for n := range time {
		if strings.Contains(strings.ToLower(g.Trace.Str(n)), word) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "; the report lists the names that matter"
	}
	slices.SortFunc(names, func(x, y trace.Sym) int {
		return cmp.Or(cmp.Compare(time[y], time[x]), strings.Compare(g.Trace.Str(x), g.Trace.Str(y)))
	})
	var shown []string
	for _, n := range names[:min(nearest, len(names))] {
		name := g.Trace.Str(n)
		if s.also != nil {
			name = s.also(critpath.NormalName(name))
		}
		shown = append(shown, name)
	}
	return "; near are " + Nearest(shown)
}

// nearest is how many names a message about a selector has at most.
const nearest = 3

// Nearest lists the first of some names for a message: kernels that are made from templates have names of thousands of letters, so
// that behind a long one no further one is told.
func Nearest(names []string) string {
	text := ""
	for i, name := range names[:min(nearest, len(names))] {
		if i > 0 {
			if len(text)+len(name) > 160 {
				break
			}
			text += ", "
		}
		text += strconv.Quote(trace.Brief(name))
	}
	return text
}
