package advise

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// graphs is a graph with the trace that it was made from, and what makes sets of its activities.
type graphs struct {
	g  *graph.Graph
	tr *trace.Trace
	m  whatif.Sets
}

func (r *graphs) event(a cdg.ActID) *trace.Event { return &r.tr.Events[r.g.Acts[a].Event] }
func (r *graphs) name(a cdg.ActID) string        { return r.tr.Str(r.event(a).Name) }
func (r *run) kind(a cdg.ActID) trace.Kind       { return r.kinds[a] }
func (r *graphs) dur(a cdg.ActID) int64          { return r.g.Acts[a].End - r.g.Acts[a].Start }

// launch is the call that launched an operation that starts in the window, else NoAct.
func (r *run) launch(a cdg.ActID) cdg.ActID {
	l := r.tr.Launch(r.g.Acts[a].Event)
	if l == trace.NoEvent || !r.inside(a) {
		return cdg.NoAct
	}
	return r.g.ActOf[l]
}

// mark is the time of an activity on the critical path, ns.
func (r *run) mark(a cdg.ActID) int64 {
	m, _ := r.path.Marks.Of(r.g.Acts[a].Event)
	return m.NS
}

// Kinds of activities that rules ask for.
var (
	opKinds    = []trace.Kind{trace.CPUOp}
	markKinds  = []trace.Kind{trace.Annotation, trace.CPUOp} // profilers before 2022 write annotations as operators
	frameKinds = []trace.Kind{trace.Python}
	callKinds  = []trace.Kind{trace.Runtime, trace.Driver}
	gpuKernel  = []trace.Kind{trace.Kernel}
	gpuCopy    = []trace.Kind{trace.Memcpy}
)

// launchesGraphs reports whether the program launches captured graphs.
func (r *run) launchesGraphs() bool {
	return len(r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })) > 0
}

// named lists the activities of some kinds whose name fits, in order of the graph.
func (r *run) named(kinds []trace.Kind, fits func(name string) bool) []cdg.ActID {
	var out []cdg.ActID
	for _, k := range kinds {
		for _, s := range r.names[k] {
			if fits(r.tr.Str(s)) {
				for _, a := range r.list[r.first[s]:r.first[s+1]] {
					if r.kind(a) == k {
						out = append(out, a)
					}
				}
			}
		}
	}
	if !slices.IsSorted(out) {
		slices.Sort(out)
	}
	return out
}

// fits tells names once each.
func (r *run) fits(kinds []trace.Kind, match func(name string) bool) map[trace.Sym]bool {
	out := map[trace.Sym]bool{}
	for _, k := range kinds {
		for _, s := range r.names[k] {
			if match(r.tr.Str(s)) {
				out[s] = true
			}
		}
	}
	return out
}

// oneOf makes a test for names of a list.
func oneOf(names ...string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

// containsAny makes a test for names that hold one of some words.
func containsAny(words ...string) func(string) bool {
	return func(s string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
}

// within says per activity which outermost slice of a list is around it on its thread, itself included; NoAct for none.
// Operations count as inside of what their launch is in.
func (r *run) within(slicesOf []cdg.ActID) []cdg.ActID {
	out := make([]cdg.ActID, len(r.g.Acts))
	mine := r.m.SetOf(slicesOf...)
	for a := range out {
		out[a] = cdg.NoAct
		if p := r.g.Parent[a]; p != cdg.NoAct && out[p] != cdg.NoAct {
			out[a] = out[p]
		} else if mine.Has(cdg.ActID(a)) {
			out[a] = cdg.ActID(a)
		}
	}
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			out[o] = out[l]
		}
	}
	return out
}

// outermost leaves out slices that lie in others of the list.
func (r *run) outermost(list []cdg.ActID) []cdg.ActID {
	set := r.m.SetOf(list...)
	var out []cdg.ActID
next:
	for _, a := range list {
		for p := r.g.Parent[a]; p != cdg.NoAct; p = r.g.Parent[p] {
			if set.Has(p) {
				continue next
			}
		}
		out = append(out, a)
	}
	return out
}

// around lists the names of the operators around an activity, the innermost first; of an operation those around its launch.
func (r *run) around(a cdg.ActID, visit func(op cdg.ActID, name string) bool) {
	if l := r.launch(a); l != cdg.NoAct {
		a = l
	}
	for ; a != cdg.NoAct; a = r.g.Parent[a] {
		if r.kind(a) == trace.CPUOp && !visit(a, r.name(a)) {
			return
		}
	}
}

// opAround is the innermost operator around an activity, NoAct for none; of an operation that around its launch.
func (r *run) opAround(a cdg.ActID) cdg.ActID {
	if l := r.launch(a); l != cdg.NoAct {
		a = l
	}
	for a != cdg.NoAct && r.kind(a) != trace.CPUOp {
		a = r.g.Parent[a]
	}
	return a
}

// verb is what a call does.
func (r *run) verb(call cdg.ActID) vendors.Verb {
	s := r.event(call).Name
	if v := r.verbs[s].Load(); v != 0 {
		return vendors.Verb(v - 1)
	}
	v := vendors.VerbOf(r.tr.Str(s))
	r.verbs[s].Store(uint32(v) + 1)
	return v
}

// launching reports per thread whether it launches operations.
func (r *run) launching() []bool {
	out := make([]bool, len(r.g.Lanes))
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			out[r.g.Acts[l].Lane] = true
		}
	}
	return out
}

// bytes is how much a copy moves, 0 when not said.
func (r *run) bytes(op cdg.ActID) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, ok := r.moved[op]
	if !ok {
		n, _ = r.tr.ArgInt(r.g.Acts[op].Event, "bytes")
		n = max(n, 0)
		r.moved[op] = n
	}
	return n
}

// median of some numbers, which it puts into another order; 0 for none.
func median(list []int64) int64 {
	if len(list) == 0 {
		return 0
	}
	return cdg.Nth(list, len(list)/2)
}

// sum adds up what a list of activities has.
func sum(list []cdg.ActID, of func(cdg.ActID) int64) int64 {
	n := int64(0)
	for _, a := range list {
		n += of(a)
	}
	return n
}

// result is what another rule finds in the run.
func (r *run) result(rl *rule) *found { return r.results[rl.id]() }
