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
	row    int                      // where the row begins that is told
	depth  int                      // of open objects and arrays
	arrays [trace.MaxDepth + 1]bool // per depth: it is an array
	skip   int                      // depth of the dropped value that is being passed over, 0 for none

	held [24]intArg // integers of the top level, as far as they fit
	n    int        // of them
}

type intArg struct {
	key string
	v   int64
}

// newArgWriter writes args of events of a trace; drop says which to leave out, nil none.
func newArgWriter(tr *trace.Trace, drop func(key string) bool) *argWriter {
	a := &argWriter{tr: tr, drop: drop}
	a.visit = a.arg // made once: a method value costs an allocation
	return a
}

// write adds the args of an event.
func (a *argWriter) write(b *perfetto.Body, id trace.EventID) {
	if a.tr.Events[id].Flags&trace.HasArgs == 0 {
		return
	}
	a.b, a.depth, a.skip, a.n = b, 0, 0, 0
	a.tr.Source.ArgsBut(id, a, a.visit)
	for ; a.depth > 0; a.depth-- { // args that break off
		b.End()
	}
	for i := range a.held[:a.n] {
		b.Int(a.held[i].key, a.held[i].v)
	}
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
		if a.depth == 0 && a.n < len(a.held) && len(strings.TrimPrefix(v.Text, "-")) <= 18 && (v.Text != "" || v.Bits < 1e18) {
			a.held[a.n] = intArg{key, v.Int64()}
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
		if v.Text != "" {
			a.b.EndKeep(v.Text)
		} else {
			a.b.End()
		}
		a.depth--
	}
	return true
}

// Again adds an object or array of the top level whose text was written before.
func (a *argWriter) Again(key, text string) bool {
	return (a.drop == nil || !a.drop(key)) && a.b.Again(key, text)
}

// AgainRow adds objects and arrays of the top level that were written before.
func (a *argWriter) AgainRow(row trace.Row) bool { return a.b.AgainRow(row.Of, row.Numbers) }

// BeginRow is called before objects and arrays of the top level.
func (a *argWriter) BeginRow() { a.row = a.b.Len() }

// EndRow is called behind them.
func (a *argWriter) EndRow() { a.b.KeepRow(a.row) }

// pass skips a dropped value and what is inside it.
func (a *argWriter) pass(v trace.Value) {
	switch v.Kind {
	case trace.Object, trace.Array:
		a.skip++
	case trace.End:
		a.skip--
	}
}
