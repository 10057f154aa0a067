package critpath

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Hotspot is the critical time of all events of one name, kind and collective.
type Hotspot struct {
	Name          string // normalised
	Collective    string // what the trace records of communication kernels whose name does not say which collective they are; "" of others, and where it records nothing
	Category      string // as written on the first of them
	Kind          SegmentKind
	Phase         phases.Phase // in which it spends most of its time
	Calls         int          // events on the path
	NS            int64
	ShareOfPath   float64
	ShareOfWindow float64
	Caller        string        // innermost user Python frame around most of the time, "" when unknown
	Event         trace.EventID // the one with the most time
}

type hotKey struct {
	name       string
	collective string
	kind       SegmentKind
}

// hotMarks is about how many marks are summed up by one processor in one go. Tests make it small.
var hotMarks = 1 << 15

// Hotspots groups the path's marks by name, collective and kind, most time first, then by name.
func Hotspots(g *graph.Graph, p *Path) []Hotspot {
	tr := g.Trace
	kinds := p.kinds
	if kinds == nil {
		kinds = segmentKinds(p)
	}
	callers := newCallers(g)
	parts := make([]hotSums, par.Ranges(p.Marks.Len(), max(hotMarks, len(tr.Syms))))
	par.EachRange(p.Marks.Len(), len(parts), func(part, from, to int) {
		x := &parts[part]
		x.first, x.unnamed = make([]int32, len(tr.Syms)), NewUnnamed(g)
		for i, m := range p.Marks.between(from, to) {
			x.add(g, &m, kinds[i], callers.of(m.Event))
		}
	})
	index := map[hotKey]int{}
	var spots []Hotspot
	var sums []hotSum
	for i := range parts {
		for k := range parts[i].sums {
			s := &parts[i].sums[k]
			key := hotKey{NormalName(tr.Str(s.name)), s.collective, s.kind}
			if at, ok := index[key]; ok {
				sums[at].join(s)
				continue
			}
			index[key] = len(sums)
			spots, sums = append(spots, Hotspot{Name: key.name, Collective: key.collective, Category: tr.Category(s.head), Kind: key.kind}), append(sums, *s)
		}
	}
	window := p.Window.End - p.Window.Start
	for i := range spots {
		h, s := &spots[i], &sums[i]
		h.Calls, h.NS, h.Event = s.calls, s.ns, s.event
		for ph := range s.phase {
			if s.phase[ph] > s.phase[h.Phase] {
				h.Phase = phases.Phase(ph)
			}
		}
		h.Caller = mostTime(tr, s.caller)
		if p.Duration > 0 {
			h.ShareOfPath = float64(h.NS) / float64(p.Duration)
		}
		if window > 0 {
			h.ShareOfWindow = float64(h.NS) / float64(window)
		}
	}
	slices.SortFunc(spots, func(a, b Hotspot) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Name, b.Name), strings.Compare(a.Collective, b.Collective), cmp.Compare(a.Kind, b.Kind))
	})
	return spots
}

// hotSums adds up marks by symbol, collective and kind, in the order in which they come first.
type hotSums struct {
	first   []int32 // per symbol: 1 + its first sum, or 0
	sums    []hotSum
	unnamed *Unnamed
}

// hotSum is the critical time of all events of one symbol or name, one collective and one kind.
type hotSum struct {
	name       trace.Sym
	kind       SegmentKind
	collective string
	next       int32 // 1 + the next sum of the symbol, or 0
	calls      int
	ns         int64
	most       int64 // of one event
	head       trace.EventID
	event      trace.EventID // the first that has that much
	phase      [phases.NumPhases]int64
	caller     map[trace.Sym]int64
}

func (x *hotSums) add(g *graph.Graph, m *Mark, kind SegmentKind, caller trace.Sym) {
	name := g.Trace.Events[m.Event].Name
	collective := x.unnamed.Collective(m.Event)
	to := x.first[name]
	for to != 0 && (x.sums[to-1].kind != kind || x.sums[to-1].collective != collective) {
		to = x.sums[to-1].next
	}
	if to == 0 {
		x.sums = append(x.sums, hotSum{name: name, kind: kind, collective: collective, next: x.first[name], head: m.Event})
		to = int32(len(x.sums))
		x.first[name] = to
	}
	s := &x.sums[to-1]
	s.calls++
	s.ns += m.NS
	if m.NS > s.most {
		s.most, s.event = m.NS, m.Event
	}
	s.phase[g.Phases[m.Event]] += m.NS
	if caller != 0 {
		if s.caller == nil {
			s.caller = map[trace.Sym]int64{}
		}
		s.caller[caller] += m.NS
	}
}

// join adds a sum of later events.
func (s *hotSum) join(t *hotSum) {
	s.calls += t.calls
	s.ns += t.ns
	if t.most > s.most {
		s.most, s.event = t.most, t.event
	}
	for ph, ns := range t.phase {
		s.phase[ph] += ns
	}
	if s.caller == nil {
		s.caller = t.caller
		return
	}
	for c, ns := range t.caller {
		s.caller[c] += ns
	}
}

// segmentKinds gives for each mark of the path the kind in which its event spends most of its time there: the time of a
// blocking call is runtime and sync.
func segmentKinds(p *Path) []SegmentKind {
	kind, most := make([]SegmentKind, p.Marks.Len()), make([]int64, p.Marks.Len())
	for _, s := range p.Segments.All() {
		if at, ok := p.Marks.Place(s.Event); ok && s.End-s.Start > most[at] { // HTA's path has segments of events that it does not mark
			most[at], kind[at] = s.End-s.Start, s.Kind
		}
	}
	return kind
}

func mostTime(tr *trace.Trace, ns map[trace.Sym]int64) string {
	best, most := "", int64(0)
	for s, t := range ns {
		if name := NormalName(tr.Str(s)); t > most || t == most && name < best {
			best, most = name, t
		}
	}
	return best
}

// callers finds the innermost Python frame of the user's code around an event: outside torch and the profiler. It may be
// asked by several goroutines: what one finds out, all others would find.
type callers struct {
	g     *graph.Graph
	user  []atomic.Uint32 // per symbol: 0 not asked, 1 no, 2 yes
	known []atomic.Uint32 // per activity: 1 + the user's frame at it or around it, 1 without one, 0 not asked
}

func newCallers(g *graph.Graph) *callers {
	return &callers{g, make([]atomic.Uint32, len(g.Trace.Syms)), make([]atomic.Uint32, len(g.Acts))}
}

// of returns the name of the caller, 0 when there is none; of an operation, the caller of its launch, or where it is known to come from.
func (c *callers) of(id trace.EventID) trace.Sym {
	tr := c.g.Trace
	if !tr.Events[id].Kind.Device() {
		return c.around(id)
	}
	o := tr.Origin(id)
	if o != nil && o.Line != 0 {
		return o.Line
	}
	frame := c.around(tr.Launch(id))
	if frame == 0 && o != nil {
		return o.File
	}
	return frame
}

// around is the user's frame around an event of a thread, 0 for none.
func (c *callers) around(id trace.EventID) trace.Sym {
	tr, d := c.g.Trace, c.g
	if id == trace.NoEvent || d.ActOf[id] == cdg.NoAct {
		return 0
	}
	a := d.ActOf[id]
	// Climb to what has been asked before or answers, and tell all on the way: each activity is passed once.
	first, frame := d.Parent[a], trace.Sym(0)
	for a = first; a != cdg.NoAct; a = d.Parent[a] {
		if said := c.known[a].Load(); said != 0 {
			frame = trace.Sym(said - 1)
			break
		}
		if e := &tr.Events[d.Acts[a].Event]; e.Kind == trace.Python && c.isUser(e.Name) {
			frame = e.Name
			c.known[a].Store(uint32(frame) + 1)
			break
		}
	}
	for a = first; a != cdg.NoAct && c.known[a].Load() == 0; a = d.Parent[a] {
		c.known[a].Store(uint32(frame) + 1)
	}
	return frame
}

func (c *callers) isUser(name trace.Sym) bool {
	said := c.user[name].Load()
	if said == 0 {
		said = 1
		if userFrame(NormalName(c.g.Trace.Str(name))) {
			said = 2
		}
		c.user[name].Store(said)
	}
	return said == 2
}

// UserFrame reports whether a name is that of a frame of the user's files, as those that CallerOf finds.
func UserFrame(name string) bool { return userFrame(NormalName(name)) }

// userFrame tells frames of the user's files: "path/file.py(12): name", outside torch, the standard library and what only passes a kernel on
// to the device, for whoever calls it.
func userFrame(name string) bool {
	if !strings.Contains(name, ".py(") {
		return false
	}
	file, _, _ := strings.Cut(name, "(")
	for _, lib := range []string{"torch/", "/torch/", "triton/", "aiter/jit/", "/lib/python", "<frozen ", "<string>"} {
		if strings.HasPrefix(file, strings.TrimPrefix(lib, "/")) && lib[0] != '/' || lib[0] == '/' && strings.Contains(file, lib) {
			return false
		}
	}
	module, _, _ := strings.Cut(strings.TrimSuffix(file, ".py"), "/")
	return !strings.Contains(standardLibrary, " "+module+" ")
}

// standardLibrary has the modules and packages of Python's standard library that PyTorch and what it needs import: a file of the user's with
// such a name would take their place. The profiler cuts the folders of sys.path off, so their paths do not tell where they are from.
const standardLibrary = " __future__ _collections_abc _strptime _weakrefset abc argparse ast asyncio base64 bdb bisect cProfile codecs collections concurrent " +
	"contextlib contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib dis email encodings enum fnmatch fractions functools " +
	"genericpath glob gzip hashlib heapq hmac http importlib inspect io ipaddress json keyword linecache locale logging lzma mimetypes " +
	"multiprocessing ntpath numbers opcode operator os pathlib pdb pickle pickletools pkgutil platform posixpath pprint queue random re reprlib " +
	"runpy selectors shlex shutil signal socket socketserver sre_compile sre_parse ssl string subprocess sysconfig tarfile tempfile textwrap " +
	"threading timeit token tokenize traceback types typing unittest urllib uuid warnings weakref zipfile zipimport "
