package advise

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"overlay/internal/cdg"
	"overlay/internal/par"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

func (r *run) event(a cdg.ActID) *trace.Event { return &r.tr.Events[r.g.Acts[a].Event] }
func (r *run) name(a cdg.ActID) string        { return r.tr.Str(r.syms[a]) }
func (r *run) kind(a cdg.ActID) trace.Kind    { return r.kinds[a] }
func (r *run) dur(a cdg.ActID) int64          { return r.g.Acts[a].End - r.g.Acts[a].Start }

// launch is the call that launched an operation that starts in the window, else NoAct.
func (r *run) launch(a cdg.ActID) cdg.ActID {
	switch i := int(a - r.firstOp); {
	case !r.kind(a).Device():
		return cdg.NoAct
	case i >= 0 && i < len(r.launches):
		return r.launches[i]
	case !r.inside(a):
		return cdg.NoAct
	}
	return r.launcher(a)
}

// launcher is the call that launched an operation, wherever both start, else NoAct.
func (r *run) launcher(a cdg.ActID) cdg.ActID {
	l := r.tr.Launch(r.g.Acts[a].Event)
	if l == trace.NoEvent {
		return cdg.NoAct
	}
	return r.g.ActOf[l]
}

// launchesOf are the calls that launched operations of a list.
func (r *run) launchesOf(ops []cdg.ActID) whatif.Set {
	set := r.m.NewSet()
	for _, o := range ops {
		if l := r.launch(o); l != cdg.NoAct {
			set.Add(l)
		}
	}
	return set
}

// mark is the time of an activity on the critical path, ns.
func (r *run) mark(a cdg.ActID) int64 { return r.marks[a] }

// Kinds of activities that rules ask for.
var (
	opKinds    = []trace.Kind{trace.CPUOp}
	markKinds  = []trace.Kind{trace.Annotation, trace.CPUOp} // profilers before 2022 write annotations as operators
	frameKinds = []trace.Kind{trace.Python}
	callKinds  = []trace.Kind{trace.Runtime, trace.Driver}
	gpuKernel  = []trace.Kind{trace.Kernel}
	gpuCopy    = []trace.Kind{trace.Memcpy}
)

// named lists the activities of some kinds whose name fits, in order of the graph.
func (r *run) named(kinds []trace.Kind, fits func(name string) bool) []cdg.ActID {
	type named struct {
		kind trace.Kind
		name trace.Sym
	}
	var names []named
	room := 0
	for _, k := range kinds {
		for _, s := range r.names[k] {
			if fits(r.tr.Str(s)) {
				names = append(names, named{k, s})
				room += int(r.first[s+1] - r.first[s])
			}
		}
	}
	if room == 0 {
		return nil
	}
	out := make([]cdg.ActID, 0, room)
	for _, x := range names {
		for _, a := range r.list[r.first[x.name]:r.first[x.name+1]] {
			if r.kind(a) == x.kind {
				out = append(out, a)
			}
		}
	}
	switch {
	case slices.IsSorted(out):
	case len(out) < len(r.g.Acts)/64:
		slices.Sort(out)
	default: // a set has them in order, and is no longer than the list
		set := r.m.SetOf(out...)
		out = out[:0]
		set.Each(func(a cdg.ActID) { out = append(out, a) })
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

// anyName fits every name.
func anyName(string) bool { return true }

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

// frameOf divides the name of a frame of Python, "file.py(12): function"; both are empty for other names.
func frameOf(name string) (file, function string) {
	if before, f, ok := strings.Cut(name, "): "); ok {
		if i := strings.LastIndexByte(before, '('); i > 0 && strings.HasSuffix(before[:i], ".py") {
			return before[:i], f
		}
	}
	return "", ""
}

// enclosed says per activity which slice of a list is around it, NoAct for none; nil where the list is empty.
type enclosed []cdg.ActID

func (x enclosed) by(a cdg.ActID) cdg.ActID {
	if x == nil {
		return cdg.NoAct
	}
	return x[a]
}

// within tells the outermost slices of a list on their threads, which are inside of themselves. Operations count as inside of
// what their launch is in.
func (r *run) within(slicesOf []cdg.ActID) enclosed {
	if len(slicesOf) == 0 {
		return nil
	}
	out := make(enclosed, len(r.g.Acts))
	for a := range out {
		out[a] = cdg.NoAct
	}
	r.outer(r.m.SetOf(slicesOf...), func(a, limit cdg.ActID) {
		for in := a; in < limit; in++ {
			out[in] = a
		}
	})
	for i, l := range r.launches {
		if l != cdg.NoAct {
			out[int(r.firstOp)+i] = out[l]
		}
	}
	return out
}

// outer visits the slices of a set that lie in no other one, each with the limit of what lies in it.
func (r *run) outer(set whatif.Set, visit func(a, limit cdg.ActID)) {
	limit := cdg.ActID(0)
	set.Each(func(a cdg.ActID) {
		if a >= limit {
			limit = r.g.Enclosed(a)
			visit(a, limit)
		}
	})
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
	return vendors.Verb(r.verbs.of(r.tr, r.syms[call]))
}

// byName is what names say, asked once each.
type byName struct {
	known []atomic.Uint32 // per name: 1 + what it says; 0 before it is asked for
	ask   func(name string) uint32
}

// bit is what a name says of a question with a yes or a no.
func bit(yes bool) uint32 {
	if yes {
		return 1
	}
	return 0
}

func (x *byName) of(tr *trace.Trace, s trace.Sym) uint32 {
	if v := x.known[s].Load(); v != 0 {
		return v - 1
	}
	v := x.ask(tr.Str(s))
	x.known[s].Store(v + 1)
	return v
}

// findLaunching tells per thread whether it launches operations.
func (r *run) findLaunching() []bool {
	out := make([]bool, len(r.g.Lanes))
	for _, l := range r.launches {
		if l != cdg.NoAct {
			out[r.g.Acts[l].Lane] = true
		}
	}
	return out
}

// bytes is how much a copy that starts in the window moves, 0 when not said.
func (r *run) bytes(op cdg.ActID) int64 { return max(r.recordedBytes(op), 0) }

// recordedBytes is what stands there, notSaid for nothing and for copies that start elsewhere.
func (r *run) recordedBytes(op cdg.ActID) int64 {
	x := r.moved()
	if i, ok := slices.BinarySearch(x.copies, op); ok {
		return x.bytes[i]
	}
	return notSaid
}

const notSaid = math.MinInt64

// moved is how much each copy moves: operations in order of the graph.
type moved struct {
	copies []cdg.ActID
	bytes  []int64
}

func (r *run) findMoved() moved {
	x := moved{copies: r.named(gpuCopy, anyName)}
	x.bytes = make([]int64, len(x.copies))
	par.EachRange(len(x.copies), par.Ranges(len(x.copies), copiesRange), func(_, from, to int) {
		for i := from; i < to; i++ {
			n, ok := r.tr.ArgInt(r.g.Acts[x.copies[i]].Event, "bytes")
			if !ok {
				n = notSaid
			}
			x.bytes[i] = n
		}
	})
	return x
}

// copiesRange is about how many copies are looked at by one processor in one go.
const copiesRange = 1 << 12

// deviceOf is the number of the device that an operation ran on.
func deviceOf(r *run, op cdg.ActID) int64 {
	return r.tr.Procs[r.tr.Tracks[r.g.Lanes[r.g.Acts[op].Lane].Track].Proc].Device
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
