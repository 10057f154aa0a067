package pftrace

import (
	"strings"

	"overlay/internal/perfetto"
	"overlay/internal/trace"
)

// argWriter writes the args of input events as arguments of slices, in their order, integers of the top level after all
// others: they differ from event to event, and what does not compresses best undivided (1 to 3 % of a .gz). Integers stay
// exact, null is left out (Perfetto has no such value), except in an array, where it becomes a text so that indices stay.
type argWriter struct {
	tr     *trace.Trace
	b      *perfetto.Body
	drop   func(key string) bool // of the top level; nil drops none
	visit  func(key string, v trace.Value) bool
	depth  int                      // of open objects and arrays
	arrays [trace.MaxDepth + 1]bool // per depth: it is an array
	skip   int                      // depth of the dropped value that is being passed over, 0 for none

	held [24]intArg // integers of the top level, as far as they fit
	n    int        // of them

	programs []*perfetto.Program // by the number of a pattern; nil where none was recorded yet
	parts    []trace.Part        // of the event that is written
	numbers  []uint64            // of the same
	text     func(dst []byte, part int) []byte
}

// intArg is an integer; in args that are recorded it is that of a part.
type intArg struct {
	key  string
	v    int64
	part int
}

// newArgWriter writes args of events of a trace; drop says which to leave out, nil none.
func newArgWriter(tr *trace.Trace, drop func(key string) bool) *argWriter {
	a := &argWriter{tr: tr, drop: drop}
	a.visit = a.arg // made once: a method value costs an allocation
	a.text = func(dst []byte, part int) []byte { return a.parts[part].Append(dst, a.numbers) }
	return a
}

// write adds the args of an event.
func (a *argWriter) write(b *perfetto.Body, id trace.EventID) {
	if a.tr.Events[id].Flags&trace.HasArgs == 0 {
		return
	}
	of := 0
	of, a.parts, a.numbers = a.tr.Source.Pattern(id, a.numbers[:0])
	for of >= len(a.programs) {
		a.programs = append(a.programs, nil)
	}
	p := a.programs[of]
	if a.parts != nil && p != nil && b.Play(p, a.numbers, a.text) {
		return
	}
	a.b, a.depth, a.skip, a.n = b, 0, 0, 0
	if p == nil && a.parts != nil && !a.large() {
		a.programs[of] = a.record()
		return
	}
	a.tr.Source.Args(id, a.visit)
	for ; a.depth > 0; a.depth-- { // args that break off
		b.End()
	}
	for i := range a.held[:a.n] {
		b.Int(a.held[i].key, a.held[i].v)
	}
}

// large reports whether an integer among the args is too large for a program.
func (a *argWriter) large() bool {
	for i := range a.parts {
		if p := &a.parts[i]; p.Holes > 0 && p.Value.Kind == trace.Int && a.numbers[p.First] >= perfetto.TooLarge {
			return true
		}
	}
	return false
}

// record writes args by their pattern, and makes the program that writes others of it.
func (a *argWriter) record() *perfetto.Program {
	program := &perfetto.Program{}
	a.b.Record(program)
	for i := range a.parts {
		p := &a.parts[i]
		hole := perfetto.Hole{First: p.First, Count: p.Holes, Text: i}
		switch {
		case p.Holes == 0:
			a.arg(p.Key, p.Value)
		case a.skip > 0 || a.depth == 0 && a.drop != nil && a.drop(p.Key):
		case p.Value.Kind == trace.Float:
			a.b.FloatHole(p.Key, trace.NumberValue(string(p.Append(nil, a.numbers))).Float64(), hole)
		case p.Value.Kind == trace.String:
			a.b.StrHole(p.Key, string(p.Append(nil, a.numbers)), hole)
		case a.depth == 0 && a.n < len(a.held):
			a.held[a.n] = intArg{p.Key, 0, i}
			a.n++
		default:
			a.b.IntHole(p.Key, a.numbers[p.First], p.Between[0] != "", hole)
		}
	}
	for i := range a.held[:a.n] {
		p := &a.parts[a.held[i].part]
		a.b.IntHole(p.Key, a.numbers[p.First], p.Between[0] != "", perfetto.Hole{First: p.First, Count: p.Holes})
	}
	a.b.Recorded()
	return program
}

func (a *argWriter) arg(key string, v trace.Value) bool {
	if a.skip > 0 {
		a.pass(v)
		return true
	}
	if a.depth == 0 && a.drop != nil && a.drop(key) {
		a.pass(v)
		return true
	}
	switch v.Kind {
	case trace.Int:
		if a.depth == 0 && a.n < len(a.held) && len(strings.TrimPrefix(v.Text, "-")) <= 18 {
			a.held[a.n] = intArg{key: key, v: v.Int64()}
			a.n++
		} else {
			a.b.Int(key, v.Int64())
		}
	case trace.String, trace.Word:
		a.b.Str(key, v.Text)
	case trace.Float:
		a.b.Float(key, v.Float64())
	case trace.Bool:
		a.b.Bool(key, v.Bits != 0)
	case trace.Uint:
		a.b.Uint(key, v.Bits)
	case trace.Null:
		if a.arrays[a.depth] {
			a.b.Str(key, v.Text)
		}
	case trace.Object, trace.Array:
		a.depth++
		if a.arrays[a.depth] = v.Kind == trace.Array; a.arrays[a.depth] {
			a.b.Array(key)
		} else {
			a.b.Dict(key)
		}
	case trace.End:
		a.b.End()
		a.depth--
	}
	return true
}

// pass skips a dropped value and what is inside it.
func (a *argWriter) pass(v trace.Value) {
	switch v.Kind {
	case trace.Object, trace.Array:
		a.skip++
	case trace.End:
		a.skip--
	}
}
