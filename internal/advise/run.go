package advise

import (
	"slices"
	"sync"
	"sync/atomic"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/roofline"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// run is what rules look at: the graph of one window, by name and by what launched what. Everything in it is about the
// window; activities are those that start in it.
type run struct {
	g       *graph.Graph
	tr      *trace.Trace
	m       whatif.Sets // makes sets of activities
	window  int64       // ns, without what is earlier
	earlier int64       // ns of it in work from before recording began: no part of any time that is told

	ops    []cdg.ActID // operations of devices, by start
	waits  []wait      // calls that waited for a device, by start
	waited whatif.Set  // the calls of such waits
	marks  []int64     // per activity: its time on the critical path, ns
	owned  []int64     // per activity of threads: time of its own in the window without what it encloses, ns
	path   *critpath.Path
	total  critpath.Totals
	kinds  []trace.Kind // per activity
	syms   []trace.Sym  // per activity: its name

	firstOp  cdg.ActID   // streams lie behind threads: all activities from here on are operations
	launches []cdg.ActID // per operation: the call that launched it, NoAct without one and of those that start outside of the window

	names   [trace.NumKinds][]trace.Sym // names of activities by kind, in order of first appearance
	first   []int32                     // CSR: activities of a name are list[first[name]:first[name+1]], in order of the graph
	list    []cdg.ActID
	verbs   byName                        // what calls do: vendors.Verb
	gemms   byName                        // whether kernels may be products of batches of matrices: 1 or 0
	causes  byName                        // which cause of a wait operators are: syncCauses
	callers func(trace.EventID) trace.Sym // nil without Python frames
	users   byName                        // whether frames are of the user's files: 1 or 0

	// What several rules ask for, made when the first of them does. Nobody changes it: rules run side by side.
	byCause        func() map[string][]wait                  // what syncs are about
	syncs          func() []cdg.ActID                        // calls that synchronise
	results        map[string]func() *found                  // of rules
	launching      func() []bool                             // which ones launch, by lane
	outers         func() []trace.Sym                        // per slice of threads: where in the program it lies
	cold           func() whatif.Set                         // slices that lie in first use
	besideGloo     func() ([]cdg.ActID, map[cdg.ActID]int64) // collectives of the CPU, and what waits beside them
	collectives    func() []cdg.ActID                        // collectives of devices
	oldStacks      func() bool                               // whether Python stacks stand on operators
	products       func() []roofline.Row                     // operators that are products, by what they launched
	program        func() program                            // what is known of it
	units          func() map[int64]units                    // of each device
	moved          func() moved                              // bytes of copies
	spanOfLaunches func() (first, last int64)                // in which calls launch
	device         func(int64) *roofline.Device              // by its number
}

// wait is a call that returned because work of a device was over.
type wait struct {
	call cdg.ActID
	for_ cdg.ActID // the operation that ended last
	ns   int64     // from the start of the call to the end of that operation
}

// newRun looks at a graph.
func newRun(g *graph.Graph, p *critpath.Path) *run {
	r := &run{g: g, tr: g.Trace, m: whatif.Sets(len(g.Acts)), window: g.Window.End - g.Window.Start, path: p, total: critpath.Breakdown(p)}
	r.verbs = byName{make([]atomic.Uint32, len(r.tr.Syms)), func(s string) uint32 { return uint32(vendors.VerbOf(s)) }}
	r.users = byName{make([]atomic.Uint32, len(r.tr.Syms)), func(s string) uint32 { return bit(critpath.UserFrame(s)) }}
	r.gemms, r.causes = byName{make([]atomic.Uint32, len(r.tr.Syms)), maybeBatched}, byName{make([]atomic.Uint32, len(r.tr.Syms)), syncCause}
	r.moved, r.spanOfLaunches, r.device = sync.OnceValue(r.findMoved), sync.OnceValues(r.findLaunches), roofline.Devices(r.tr)
	r.byCause, r.syncs, r.collectives = sync.OnceValue(r.waitsByCause), sync.OnceValue(r.findSyncs), sync.OnceValue(r.findCollectives)
	r.outers, r.besideGloo = sync.OnceValue(r.findOuters), sync.OnceValues(r.findBesideGloo)
	r.cold = sync.OnceValue(r.inFirstUse)
	r.launching = sync.OnceValue(r.findLaunching)
	r.products = sync.OnceValue(r.findProducts)
	r.oldStacks = sync.OnceValue(r.findOldStacks)
	r.program, r.units = sync.OnceValue(r.findProgram), sync.OnceValue(r.findUnits)
	r.results = make(map[string]func() *found, len(rules))
	for _, rl := range rules {
		r.results[rl.id] = sync.OnceValue(func() *found {
			if rl.torch && !r.program().torch {
				return nil
			}
			return rl.find(r)
		})
	}
	n := len(g.Acts)
	r.kinds, r.syms = make([]trace.Kind, n), make([]trace.Sym, n)
	r.firstOp = cdg.ActID(n)
	if l := slices.IndexFunc(g.Lanes, func(l cdg.Lane) bool { return l.Stream }); l >= 0 {
		r.firstOp = g.Lanes[l].First
	}
	r.owned, r.launches = make([]int64, r.firstOp), make([]cdg.ActID, n-int(r.firstOp))
	r.marks = make([]int64, n)
	owned := par.Beside(func() {
		r.addPieces()
		for _, m := range p.Marks.All() {
			if a := g.ActOf[m.Event]; a != cdg.NoAct {
				r.marks[a] = m.NS
			}
		}
	})
	r.addActs()
	owned()
	r.waited = r.m.NewSet()
	for _, w := range r.waits {
		r.waited.Add(w.call)
	}
	before := func(a, b cdg.ActID) bool {
		x, y := g.Acts[a].Start, g.Acts[b].Start
		return x < y || x == y && a < b
	}
	cdg.SortRuns(r.ops, func(a, b *cdg.ActID) bool { return before(*a, *b) })
	cdg.SortRuns(r.waits, func(a, b *wait) bool { return before(a.call, b.call) })
	if len(r.names[trace.Python]) > 0 {
		r.callers = critpath.CallerOf(g)
	}
	if r.total.Kind[critpath.GPUUnrecorded] > 0 {
		r.earlier = critpath.Earlier(r.g, r.path, r.path.Window.Start, r.path.Window.End)
	}
	r.window -= r.earlier
	return r
}

// addPieces adds up what slices have of their own in the window.
func (r *run) addPieces() {
	g := r.g
	for i := range g.Pieces { // the last of a thread has no owner
		if x := &g.Pieces[i]; x.Owner != cdg.NoAct {
			r.owned[x.Owner] += max(0, min(g.Pieces[i+1].Start, g.Window.End)-max(x.Start, g.Window.Start))
		}
	}
}

// own is what an activity has of its own in the window, ns: a slice without what it encloses, an operation that starts in it up to
// the window's end.
func (r *run) own(a cdg.ActID) int64 {
	switch {
	case a < r.firstOp:
		return r.owned[a]
	case !r.inside(a):
		return 0
	}
	act := &r.g.Acts[a]
	return min(act.End, r.g.Window.End) - act.Start
}

// actsRange is about how many activities are looked at by one processor in one go. Tests make it small.
var actsRange = 1 << 15

// acts is what newRun wants to know of some activities of the window.
type acts struct {
	first []int32                     // per name: how many; then where the next one goes in run.list
	seen  []uint32                    // per name: a bit for each kind
	names [trace.NumKinds][]trace.Sym // as in run
	ops   []cdg.ActID
	waits []wait
}

// addActs looks at all activities. Of threads it leaves out what is their own.
func (r *run) addActs() {
	n, syms := len(r.g.Acts), len(r.tr.Syms)
	parts := make([]acts, par.Ranges(n, max(actsRange, 2*syms)))
	par.EachRange(n, len(parts), func(part, from, to int) { parts[part] = r.actsOf(cdg.ActID(from), cdg.ActID(to)) })
	seen := make([]uint32, syms)
	r.first = make([]int32, syms+1)
	for i := range parts {
		x := &parts[i]
		r.ops, r.waits = append(r.ops, x.ops...), append(r.waits, x.waits...)
		x.ops, x.waits = nil, nil
		for k := range x.names {
			for _, s := range x.names[k] {
				if seen[s]&(1<<k) == 0 {
					seen[s] |= 1 << k
					r.names[k] = append(r.names[k], s)
				}
			}
		}
		for s, c := range x.first {
			r.first[s+1] += c
		}
	}
	for s := range r.first[1:] {
		r.first[s+1] += r.first[s]
	}
	next := slices.Clone(r.first[:syms])
	for i := range parts { // behind those of the ranges before
		for s, c := range parts[i].first {
			parts[i].first[s], next[s] = next[s], next[s]+c
		}
	}
	r.list = make([]cdg.ActID, r.first[syms])
	par.EachRange(n, len(parts), func(part, from, to int) {
		next := parts[part].first
		for a := cdg.ActID(from); a < cdg.ActID(to); a++ {
			if r.inside(a) {
				r.list[next[r.syms[a]]] = a
				next[r.syms[a]]++
			}
		}
	})
}

// actsOf looks at activities from one on and before a limit, and fills in their kinds and names.
func (r *run) actsOf(from, limit cdg.ActID) acts {
	g := r.g
	x := acts{first: make([]int32, len(r.tr.Syms)), seen: make([]uint32, len(r.tr.Syms))}
	for a := from; a < limit; a++ {
		act := &g.Acts[a]
		e := &r.tr.Events[act.Event]
		r.kinds[a], r.syms[a] = e.Kind, e.Name
		stream := a >= r.firstOp
		if !r.inside(a) {
			if stream {
				r.launches[a-r.firstOp] = cdg.NoAct
			}
			continue
		}
		x.first[e.Name]++
		if k := uint32(1) << e.Kind; x.seen[e.Name]&k == 0 {
			x.seen[e.Name] |= k
			x.names[e.Kind] = append(x.names[e.Kind], e.Name)
		}
		if !stream {
			r.addWait(&x.waits, a)
			continue
		}
		x.ops = append(x.ops, a)
		r.launches[a-r.firstOp] = r.launcher(a)
	}
	return x
}

// forget lets go of what is large and no rule looks at once it has found what it finds. What a scenario takes is worked out again later,
// from own times, the graph, and what the rule keeps for it.
func (r *run) forget() {
	r.marks, r.ops, r.launches, r.list, r.callers, r.results, r.syncs, r.products, r.outers, r.cold, r.syms = nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil
}

const _ = uint32(1) << (trace.NumKinds - 1) // a bit for each kind has room

// addWait notes a call that returned because operations were over.
func (r *run) addWait(to *[]wait, a cdg.ActID) {
	if !r.g.Graph.Call(a) {
		return
	}
	w := wait{a, cdg.NoAct, 0}
	end := int64(0)
	for _, s := range r.g.Sources(a) {
		if s.Rule == cdg.Sync && s.From != cdg.NoAct {
			if e := r.g.Acts[s.From].End; w.for_ == cdg.NoAct || e > end {
				w.for_, end = s.From, e
			}
		}
	}
	act := &r.g.Acts[a]
	if w.for_ == cdg.NoAct || end <= act.Start {
		return
	}
	w.ns = min(end, act.End) - act.Start
	*to = append(*to, w)
}

// inside reports whether an activity starts in the window.
func (r *run) inside(a cdg.ActID) bool {
	at := r.g.Acts[a].Start
	return at >= r.g.Window.Start && at < r.g.Window.End
}
