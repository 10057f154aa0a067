package advise

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// events are the slices that a finding is about.
type events struct {
	list     []cdg.ActID
	expected int64 // ns that each should take; 0 for unknown, -1 for none at all
	exposed  bool  // their time is that on the critical path, not their duration
}

// How many slices, examples and lines a finding lists.
const (
	maxPlaces   = 1000 // in the picture
	maxEvents   = 100
	maxExamples = 3
	maxLines    = 5
)

// show fills in what a finding shows as evidence.
func (r *run) show(f *Finding, ev *events) {
	of := r.dur
	if ev.exposed {
		of = r.mark
	}
	list := longest(r, ev.list, maxPlaces, of)
	f.Total = len(ev.list)
	f.Events, f.Examples = []int{}, []Example{}
	for _, x := range list[:min(len(list), maxPlaces)] {
		f.places = append(f.places, x.event)
	}
	for i, x := range list[:min(len(list), maxEvents)] {
		f.Events = append(f.Events, int(x.event))
		if i < maxExamples {
			expected := ev.expected
			switch expected {
			case 0:
				expected = -1
			case -1:
				expected = 0
			}
			f.Examples = append(f.Examples, Example{int32(x.event), r.name(x.act), r.g.Acts[x.act].Start - r.g.Window.Start, x.ns, expected})
		}
	}
	f.Lines = r.lines(ev.list, of)
}

// timed is a slice with what stands for its length, ns.
type timed struct {
	ns    int64
	event trace.EventID
	act   cdg.ActID
}

// longest lists n slices of a list and more, the longest first; of says how long they are.
func longest(r *run, list []cdg.ActID, n int, of func(cdg.ActID) int64) []timed {
	least := int64(0)
	if len(list) > 2*n {
		durs := make([]int64, len(list))
		for i, a := range list {
			durs[i] = of(a)
		}
		least = stat.Nth(durs, len(durs)-n)
	}
	out := make([]timed, 0, min(len(list), 2*n))
	for _, a := range list {
		if ns := of(a); ns >= least {
			out = append(out, timed{ns, r.g.Acts[a].Event, a})
		}
	}
	slices.SortFunc(out, func(a, b timed) int { return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.event, b.event)) })
	return out
}

// place is the name of where in the program an activity belongs, of an operation its launch: the innermost line of the user's code around it, else
// the innermost module, else the outermost operator; of what a graph replays as its capture recorded it. 0 where nothing is around it.
func (r *run) place(a cdg.ActID) trace.Sym {
	if r.kind(a).Device() {
		if o := r.tr.Origin(r.g.Acts[a].Event); o != nil { // of a graph its launch says nothing
			if s := cmp.Or(o.Line, o.Module, o.Operator, o.File); s != 0 {
				return s
			}
		}
		if l := r.launch(a); l != cdg.NoAct {
			a = l
		}
	}
	if r.callers != nil {
		if name := r.syms[a]; r.kind(a) == trace.Python && r.users.of(r.tr, name) == 1 {
			return name
		}
		if s := r.callers(r.g.Acts[a].Event); s != 0 {
			return s
		}
	}
	if a >= r.firstOp {
		return 0
	}
	return r.outers()[a]
}

// findOuters names for each slice of threads the innermost module around it or itself one, else the outermost operator; 0 without either.
func (r *run) findOuters() []trace.Sym {
	outers := make([]trace.Sym, r.firstOp)
	module := byName{make([]atomic.Uint32, len(r.tr.Syms)), func(s string) uint32 { return bit(strings.HasPrefix(s, "nn.Module")) }}
	step := byName{make([]atomic.Uint32, len(r.tr.Syms)), func(s string) uint32 { return bit(strings.HasPrefix(s, trace.StepPrefix)) }}
	for a := range cdg.ActID(len(outers)) { // behind what encloses it
		if p := r.g.Parent[a]; p != cdg.NoAct {
			outers[a] = outers[p]
		}
		switch k := r.kind(a); {
		case k == trace.Python && module.of(r.tr, r.syms[a]) == 1, // profilers before 2022 write annotations as operators
			outers[a] == 0 && k == trace.CPUOp && step.of(r.tr, r.syms[a]) == 0:
			outers[a] = r.syms[a]
		}
	}
	return outers
}

// lines sums up in which places of the program slices lie, most time first; of says how much time each of them stands for.
func (r *run) lines(list []cdg.ActID, of func(cdg.ActID) int64) []Line {
	out, bySym, at := []Line{}, make([]int32, len(r.tr.Syms)), map[string]int32{} // places: 1 + where in out, 0 for none yet
	for _, a := range list {
		place := r.place(a)
		if place == 0 {
			continue
		}
		i := bySym[place]
		if i == 0 {
			name := critpath.NormalName(r.tr.Str(place))
			if i = at[name]; i == 0 {
				out = append(out, Line{Line: name})
				i = int32(len(out))
			}
			bySym[place], at[name] = i, i
		}
		out[i-1].Count++
		out[i-1].NS += of(a)
	}
	slices.SortStableFunc(out, func(a, b Line) int { return cmp.Or(cmp.Compare(b.NS, a.NS), strings.Compare(a.Line, b.Line)) })
	return out[:min(len(out), maxLines)]
}

// about is what most rules say of what they found: how many of something there are, and how long these take. The count goes by a
// name of its own among the numbers.
func (r *run) about(list []cdg.ActID, noun, counted, do string) *found {
	busy := sum(list, r.dur)
	return &found{events: events{list: list}, change: r.scenario(), do: do, saw: tables.Counted(len(list), noun) + ", " + tables.Duration(busy),
		numbers: []Number{countOf(counted, len(list)), timeOf("in them", busy)}}
}

// some is a number of things.
type some struct {
	n    int
	noun string
}

// countedAll lists things in words, but those of which there are none.
func countedAll(list ...some) string {
	var words []string
	for _, x := range list {
		if x.n > 0 {
			words = append(words, tables.Counted(x.n, x.noun))
		}
	}
	return strings.Join(words, ", ")
}

// Numbers of a finding: a time, a count, bytes.
func timeOf(name string, ns int64) Number { return Number{Name: name, NS: ns} }
func countOf(name string, n int) Number   { return Number{Name: name, Count: int64(n)} }
func bytesOf(name string, n int64) Number { return Number{Name: name, Bytes: n} }
