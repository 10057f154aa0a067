package critpath

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Hotspot is the critical time of all events of one name.
type Hotspot struct {
	Name          string // normalised
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
	name string
	kind SegmentKind
}

// Hotspots groups the path's marks by name and kind, most time first, then by name.
func Hotspots(g *graph.Graph, p *Path) []Hotspot {
	tr := g.Trace
	kinds := segmentKinds(p)
	names := make([]string, len(tr.Syms))
	index := map[hotKey]int{}
	type sums struct {
		phase  [phases.NumPhases]int64
		caller map[trace.Sym]int64
		most   int64
	}
	var spots []Hotspot
	var detail []sums
	callers := newCallers(g)
	for i, m := range p.Marks.All() {
		e := &tr.Events[m.Event]
		if names[e.Name] == "" {
			names[e.Name] = NormalName(tr.Str(e.Name))
		}
		key := hotKey{names[e.Name], kinds[i]}
		at, ok := index[key]
		if !ok {
			at = len(spots)
			index[key] = at
			spots = append(spots, Hotspot{Name: key.name, Category: tr.Category(m.Event), Kind: key.kind})
			detail = append(detail, sums{caller: map[trace.Sym]int64{}})
		}
		h, d := &spots[at], &detail[at]
		h.Calls++
		h.NS += m.NS
		if m.NS > d.most {
			d.most, h.Event = m.NS, m.Event
		}
		d.phase[g.Phases[m.Event]] += m.NS
		if c := callers.of(m.Event); c != 0 {
			d.caller[c] += m.NS
		}
	}
	window := p.Window.End - p.Window.Start
	for i := range spots {
		h, d := &spots[i], &detail[i]
		for ph := range d.phase {
			if d.phase[ph] > d.phase[h.Phase] {
				h.Phase = phases.Phase(ph)
			}
		}
		h.Caller = mostTime(tr, d.caller)
		if p.Duration > 0 {
			h.ShareOfPath = float64(h.NS) / float64(p.Duration)
		}
		if window > 0 {
			h.ShareOfWindow = float64(h.NS) / float64(window)
		}
	}
	slices.SortFunc(spots, func(a, b Hotspot) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	return spots
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

// callers finds the innermost Python frame of the user's code around an event: outside torch and the profiler.
type callers struct {
	g     *graph.Graph
	user  []uint8     // per symbol: 0 not asked, 1 no, 2 yes
	known []trace.Sym // per activity: the user's frame at it or around it, 0 without one, notAsked at first
}

const notAsked = ^trace.Sym(0)

func newCallers(g *graph.Graph) callers {
	c := callers{g, make([]uint8, len(g.Trace.Syms)), make([]trace.Sym, len(g.Acts))}
	for i := range c.known {
		c.known[i] = notAsked
	}
	return c
}

// of returns the name of the caller, 0 when there is none; of an operation, the caller of its launch.
func (c *callers) of(id trace.EventID) trace.Sym {
	tr, d := c.g.Trace, c.g
	if tr.Events[id].Kind.Device() {
		if id = tr.Launch[id]; id == trace.NoEvent {
			return 0
		}
	}
	a := d.ActOf[id]
	if a == cdg.NoAct {
		return 0
	}
	// Climb to what has been asked before or answers, and tell all on the way: each activity is passed once.
	first, frame := d.Parent[a], trace.Sym(0)
	for a = first; a != cdg.NoAct; a = d.Parent[a] {
		if frame = c.known[a]; frame != notAsked {
			break
		}
		if e := &tr.Events[d.Acts[a].Event]; e.Kind == trace.Python && c.isUser(e.Name) {
			frame = e.Name
			c.known[a] = frame
			break
		}
		frame = 0
	}
	for a = first; a != cdg.NoAct && c.known[a] == notAsked; a = d.Parent[a] {
		c.known[a] = frame
	}
	return frame
}

func (c *callers) isUser(name trace.Sym) bool {
	if c.user[name] == 0 {
		c.user[name] = 1
		if userFrame(NormalName(c.g.Trace.Str(name))) {
			c.user[name] = 2
		}
	}
	return c.user[name] == 2
}

// userFrame tells frames of the user's files: "path/file.py(12): name", outside torch and the standard library.
func userFrame(name string) bool {
	if !strings.Contains(name, ".py(") {
		return false
	}
	file, _, _ := strings.Cut(name, "(")
	for _, lib := range []string{"torch/", "/torch/", "threading.py", "contextlib.py", "functools.py", "/lib/python", "<frozen ", "<string>"} {
		if strings.HasPrefix(file, strings.TrimPrefix(lib, "/")) && lib[0] != '/' || lib[0] == '/' && strings.Contains(file, lib) {
			return false
		}
	}
	return true
}
