package replay

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/ranks"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// anchors are the settings under which chains are looked for: what is last when the device, threads or collectives take less or more. Each chain that matters under some
// question is last under one of these, or nearly so.
var anchors = []whatif.Anchor{
	{Device: 100, Thread: 100, Ports: 100},
	{Device: 50, Thread: 100, Ports: 100},
	{Device: 5, Thread: 100, Ports: 100},
	{Device: 100, Thread: 50, Ports: 100},
	{Device: 100, Thread: 5, Ports: 100},
	{Device: 100, Thread: 100, Ports: 30},
	{Device: 100, Thread: 100, Ports: 0},
	{Device: 50, Thread: 100, Ports: 30},
	{Device: 100, Thread: 50, Ports: 30},
	{Device: 200, Thread: 100, Ports: 100},
	{Device: 100, Thread: 300, Ports: 100},
}

const (
	namesKept = 64 // of which chains have parts of their own, with the most own time in the window
	partsKept = 8  // of a chain; what is less joins the rest of its class
)

// AddChains finds the chains of a rank and puts them into its summary, which was made of the same graph. named gives the names of events where they are not to be those of the
// graph's own trace.
func AddChains(s *ranks.Summary, g *graph.Graph, named *trace.Trace) {
	f := &finder{s: s, g: g, named: cmp.Or(named, g.Trace), names: map[string]ranks.Name{}}
	ports := make([]cdg.ActID, len(s.Ops))
	for i := range s.Ops {
		ports[i] = g.ActOf[s.Ops[i].Event]
	}
	m := whatif.New(g)
	f.number(m)
	f.of = make([][]chain, len(s.Ops)+1)
	m.Chains(ports, anchors, f.kindOf, f.take)
	f.write()
}

// chain is one that is kept, with its parts by kind.
type chain struct {
	from  int32
	fixed int64
	parts []whatif.Weight
}

type finder struct {
	s      *ranks.Summary
	g      *graph.Graph
	named  *trace.Trace
	names  map[string]ranks.Name
	kinds  []ranks.PartOf // first the classes, then the names that are kept
	kindOf []int8         // per activity: the kind of its own time, -1 for none
	of     [][]chain      // per operation, and of the end of the window
	sizes  []int64
}

// workOf is the class of own time, false for operations that communicate.
func workOf(c whatif.Class) (ranks.Work, bool) {
	switch c {
	case whatif.ComputeClass:
		return ranks.OnDevice, true
	case whatif.CopyClass:
		return ranks.Copying, true
	case whatif.CPUClass:
		return ranks.OnThread, true
	case whatif.RuntimeClass:
		return ranks.Calling, true
	case whatif.PythonClass:
		return ranks.InPython, true
	}
	return 0, false
}

// number finds the names that are kept.
func (f *finder) number(m *whatif.Model) {
	for i, n := range f.s.Names {
		f.names[n] = ranks.Name(i)
	}
	for w := range ranks.NumWorks {
		f.kinds = append(f.kinds, ranks.PartOf{Work: w})
	}
	type sum struct {
		sym  trace.Sym
		work ranks.Work
		ns   int64
	}
	sums := map[trace.Sym]*sum{}
	f.kindOf = make([]int8, len(f.g.Acts))
	for a, c := range m.Classes() {
		f.kindOf[a] = -1
		if w, ok := workOf(c); ok {
			f.kindOf[a] = int8(w)
		}
	}
	shown := f.shown()
	m.EachOwn(func(a cdg.ActID, ns int64) {
		if f.kindOf[a] < 0 {
			return
		}
		w, sym := ranks.Work(f.kindOf[a]), f.named.Events[shown[a]].Name
		if sums[sym] == nil {
			sums[sym] = &sum{sym: sym, work: w}
		}
		sums[sym].ns += ns
	})
	list := make([]*sum, 0, len(sums))
	for _, x := range sums {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *sum) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.sym, b.sym)) })
	slot := make([]int8, len(f.named.Syms)) // 0: not kept
	for _, x := range list[:min(namesKept, len(list))] {
		if n, ok := f.name(x.sym); ok {
			k := ranks.PartOf{Name: n, Work: x.work}
			at := slices.Index(f.kinds, k)
			if at < 0 {
				at = len(f.kinds)
				f.kinds = append(f.kinds, k)
			}
			slot[x.sym] = int8(at)
		}
	}
	for a, w := range f.kindOf {
		if k := slot[f.named.Events[shown[a]].Name]; k != 0 && int8(f.kinds[k].Work) == w {
			f.kindOf[a] = k
		}
	}
}

// shown is per activity the event under whose name its own time counts: inside of a data loader that of its annotation, as in lists of what a rank spent.
func (f *finder) shown() []trace.EventID {
	list := make([]trace.EventID, len(f.g.Acts))
	for a := range list {
		list[a] = f.g.Acts[a].Event
		if p := f.g.Parent[a]; p != cdg.NoAct && int(p) < a && strings.HasPrefix(f.g.Trace.Name(list[p]), ranks.LoaderPrefix) {
			list[a] = list[p]
		}
	}
	return list
}

// name is the name of a symbol in the summary.
func (f *finder) name(sym trace.Sym) (ranks.Name, bool) {
	name := critpath.NormalName(f.named.Str(sym))
	if strings.HasPrefix(name, trace.StepPrefix) { // annotations of steps: each has another name
		return 0, false
	}
	n, ok := f.names[name]
	if !ok && len(f.s.Names) < math.MaxUint16 {
		n, ok = ranks.Name(len(f.s.Names)), true
		f.s.Names, f.names[name] = append(f.s.Names, strings.Clone(name)), n
	}
	return n, ok && n != 0
}

// take keeps a chain, unless there is one from the same operation that has no less of anything.
func (f *finder) take(x whatif.Chain) {
	c := chain{from: int32(x.From), fixed: x.Fixed, parts: f.fold(x.Work)}
	start, from := f.s.Window[1], f.s.Window[0]
	if x.Port < len(f.s.Ops) {
		start = f.s.Ops[x.Port].Start
	}
	if c.from >= 0 {
		from = f.s.Ops[c.from].End
	}
	sum := c.fixed
	for _, p := range c.parts {
		sum += p.NS
	}
	if int(c.from) >= x.Port || from+sum > start { // operations that start at one instant; a source whose place depends on the run
		if len(f.of[x.Port]) > 0 {
			return
		}
		c = chain{from: -1, fixed: start - f.s.Window[0]}
	}
	list := f.of[x.Port]
	if slices.ContainsFunc(list, func(y chain) bool { return y.covers(&c) }) {
		return
	}
	keep := list[:0]
	for _, y := range list {
		if len(keep) == 0 || !c.covers(&y) { // the first is the one of the recorded run
			keep = append(keep, y)
		}
	}
	c.parts = slices.Clone(c.parts)
	f.of[x.Port] = append(keep, c)
}

// covers reports whether a chain from the same operation has no less of anything than another.
func (c *chain) covers(o *chain) bool {
	if c.from != o.from || c.fixed < o.fixed {
		return false
	}
	i := 0
	for _, p := range o.parts {
		for i < len(c.parts) && c.parts[i].Kind < p.Kind {
			i++
		}
		if i == len(c.parts) || c.parts[i].Kind > p.Kind || c.parts[i].NS < p.NS {
			return false
		}
	}
	return true
}

// fold joins small parts of a chain to the rest of their class.
func (f *finder) fold(list []whatif.Weight) []whatif.Weight {
	if len(list) <= partsKept {
		return list
	}
	f.sizes = f.sizes[:0]
	for _, w := range list {
		if w.Kind >= int(ranks.NumWorks) {
			f.sizes = append(f.sizes, w.NS)
		}
	}
	slices.SortFunc(f.sizes, func(a, b int64) int { return cmp.Compare(b, a) })
	least := int64(0)
	if n := partsKept - int(ranks.NumWorks); len(f.sizes) > n {
		least = f.sizes[n] + 1
	}
	var rest [ranks.NumWorks]int64
	kept := make([]whatif.Weight, 0, partsKept)
	for _, w := range list {
		if w.Kind < int(ranks.NumWorks) || w.NS < least {
			rest[f.kinds[w.Kind].Work] += w.NS
		} else {
			kept = append(kept, w)
		}
	}
	out := make([]whatif.Weight, 0, len(kept)+int(ranks.NumWorks))
	for w, ns := range rest {
		if ns != 0 {
			out = append(out, whatif.Weight{Kind: w, NS: ns})
		}
	}
	return append(out, kept...)
}

// write puts the chains into the summary.
func (f *finder) write() {
	f.s.SetChains(f.kinds, func(op int) (list []ranks.Chain) {
		for _, c := range f.of[op] {
			x := ranks.Chain{From: c.from, Fixed: c.fixed}
			for _, p := range c.parts {
				x.Parts = append(x.Parts, ranks.Part{Of: int32(p.Kind), NS: p.NS})
			}
			list = append(list, x)
		}
		return list
	})
}
