package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/roofline"
	"overlay/internal/trace"
	"overlay/internal/vendors"
	"overlay/internal/whatif"
)

// run is what rules look at: the graph of one window, by name and by what launched what. Everything in it is about the
// window; activities are those that start in it.
type run struct {
	*graphs
	window int64 // ns

	ops    []cdg.ActID // operations of devices, by start
	own    []int64     // per activity: time of its own in the window, ns; of slices without what they enclose
	waits  []wait      // calls that waited for a device, by start
	waited []bool      // per activity: whether it is the call of such a wait
	path   *critpath.Path
	total  critpath.Totals
	kinds  []trace.Kind // per activity

	names   [trace.NumKinds][]trace.Sym // names of activities by kind, in order of first appearance
	first   []int32                     // CSR: activities of a name are list[first[name]:first[name+1]], in order of the graph
	list    []cdg.ActID
	verbs   map[trace.Sym]vendors.Verb
	callers func(trace.EventID) trace.Sym // nil without Python frames
	byCause map[string][]wait             // what syncs are about; made when asked for
	syncs   map[cdg.ActID][]cdg.ActID     // synchronising calls by the operator around them; made when asked for
	results map[string]*found             // of rules that were asked already
	comms   []cdg.ActID                   // collectives of devices; nil until asked for
	moved   map[cdg.ActID]int64           // bytes of copies; filled when asked for
	small   *smallCopies                  // to devices; nil until asked for
	shapes  []kernel                      // long kernels of computation, by start; nil until asked for
	matmuls []roofline.Row                // operators that are products, by what they launched; nil until asked for
}

// wait is a call that returned because work of a device was over.
type wait struct {
	call cdg.ActID
	for_ cdg.ActID // the operation that ended last
	ns   int64     // from the start of the call to the end of that operation
}

// newRun looks at a graph.
func newRun(g *graph.Graph, p *critpath.Path) *run {
	r := &run{graphs: &graphs{g, g.Trace, whatif.Sets(len(g.Acts))}, window: g.Window.End - g.Window.Start, path: p, total: critpath.Breakdown(p), verbs: map[trace.Sym]vendors.Verb{}, moved: map[cdg.ActID]int64{}}
	n := len(g.Acts)
	r.own, r.waited = make([]int64, n), make([]bool, n)
	r.kinds, r.first = make([]trace.Kind, n), make([]int32, len(r.tr.Syms)+1)
	seen := make([]uint32, len(r.tr.Syms)) // per name: a bit for each kind
	for a := range g.Acts {
		act := &g.Acts[a]
		e := &r.tr.Events[act.Event]
		r.kinds[a] = e.Kind
		if !r.inside(cdg.ActID(a)) {
			continue
		}
		r.first[e.Name+1]++
		if k := uint32(1) << e.Kind; seen[e.Name]&k == 0 {
			seen[e.Name] |= k
			r.names[e.Kind] = append(r.names[e.Kind], e.Name)
		}
		if !g.Lanes[act.Lane].Stream {
			r.addWait(cdg.ActID(a))
			continue
		}
		r.ops = append(r.ops, cdg.ActID(a))
		r.own[a] = min(act.End, g.Window.End) - act.Start
	}
	for i := range r.first[1:] {
		r.first[i+1] += r.first[i]
	}
	next := slices.Clone(r.first)
	r.list = make([]cdg.ActID, r.first[len(r.first)-1])
	for a := range g.Acts {
		if r.inside(cdg.ActID(a)) {
			s := r.event(cdg.ActID(a)).Name
			r.list[next[s]] = cdg.ActID(a)
			next[s]++
		}
	}
	for i := range g.Pieces { // the last of a thread has no owner
		if x := &g.Pieces[i]; x.Owner != cdg.NoAct {
			r.own[x.Owner] += max(0, min(g.Pieces[i+1].Start, g.Window.End)-max(x.Start, g.Window.Start))
		}
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
	return r
}

// forget lets go of what is large and no rule looks at once it has found what it finds: of the graph that is what was waited
// for. What a scenario takes is worked out again later, from own times, the layout, and what the rule keeps for it.
func (r *run) forget() {
	r.g = r.g.Bare()
	r.ops, r.list, r.callers, r.results, r.syncs, r.shapes, r.matmuls = nil, nil, nil, nil, nil, nil, nil
}

const _ = uint32(1) << (trace.NumKinds - 1) // a bit for each kind has room

// waitsByCalls lists the waits of some calls.
func (r *run) waitsByCalls(calls []cdg.ActID) (list []wait) {
	set := r.m.SetOf(calls...)
	for _, w := range r.waits {
		if set.Has(w.call) {
			list = append(list, w)
		}
	}
	return list
}

// addWait notes a call that returned because operations were over.
func (r *run) addWait(a cdg.ActID) {
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
	r.waits = append(r.waits, w)
	r.waited[a] = true
}

// inside reports whether an activity starts in the window.
func (r *run) inside(a cdg.ActID) bool {
	at := r.g.Acts[a].Start
	return at >= r.g.Window.Start && at < r.g.Window.End
}
