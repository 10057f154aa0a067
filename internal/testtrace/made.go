package testtrace

import (
	"bytes"
	"fmt"
	"testing"

	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// MadeTrace is a trace of the project's own.
type MadeTrace struct {
	Name  string
	Trace *trace.Trace
}

// Made returns traces in which there is something to analyse: the demo, a simulated process of each class, and the
// same in the forms in which profilers have written traces over the years.
func Made(tb testing.TB) []MadeTrace {
	tb.Helper()
	list := []MadeTrace{{"demo", Read(tb, corpus.Demo(tb))}}
	for i, class := range Classes {
		list = append(list, MadeTrace{"simulated_" + class, Simulated(Random(class, uint64(i)+1)).Parse(tb)})
	}
	for _, f := range forms {
		p := Random(f.class, f.seed)
		f.program(p)
		b := Simulated(p)
		f.build(b)
		list = append(list, MadeTrace{f.name, b.Parse(tb)})
	}
	list = append(list, MadeTrace{"training", training().Parse(tb)}, MadeTrace{"vendors", vendors().Parse(tb)})
	for _, m := range []struct {
		name string
		text []byte
	}{{"graphs", Simulated(Random("graphs", 3)).JSON()}, {"copies", Simulated(Random("copies", 3)).JSON()}} {
		for i, o := range []CuspyOptions{{}, {NoKinds: true}, {Lanes: true}} {
			text, err := Cuspy(m.text, o)
			if err != nil {
				tb.Fatal(err)
			}
			list = append(list, MadeTrace{fmt.Sprintf("cuspy_%s_%d", m.name, i), Parse(tb, text)})
		}
	}
	return list
}

// Steady returns traces whose results packages hold to what they were: the made ones, and production programs with and
// without records of synchronisation.
func Steady(tb testing.TB) []MadeTrace {
	tb.Helper()
	list := Made(tb)
	for i, class := range Production {
		for _, recorded := range []bool{false, true} {
			p := Random(class, uint64(i)+1)
			p.SyncRecords = recorded
			name := class + "_bare"
			if recorded {
				name = class + "_recorded"
			}
			list = append(list, MadeTrace{name, Simulated(p).Parse(tb)})
		}
	}
	return list
}

// forms are ways in which the trace of one process can have been written.
var forms = []struct {
	name, class string
	seed        uint64
	program     func(p *Program)
	build       func(b *Builder)
}{
	{"whole_micros_of_2021", "eager", 21, func(p *Program) { p.IntegerMicros = true }, func(b *Builder) { b.OldNames = true }},
	{"array_form", "autograd", 22, func(p *Program) { p.IntegerMicros = false }, func(b *Builder) { b.ArrayForm = true }},
	{"recorded_waits", "sync", 23, func(p *Program) { p.SyncRecords = true }, func(b *Builder) { b.Rank, b.World = 3, 8 }},
	{"recorded_waits_of_streams", "streams", 24, func(p *Program) { p.SyncRecords = true }, func(b *Builder) { b.Device = "AMD Instinct MI300X" }},
	{"no_recorded_waits", "sync", 25, func(p *Program) { p.SyncRecords = false }, func(b *Builder) { b.Device = "" }},
	{"base_behind_the_events", "mixed", 26, func(p *Program) {}, func(b *Builder) { b.BaseTime, b.BaseAtTail = 1_700_000_000_000_000_000, true }},
	{"base_before_the_events", "ddp", 27, func(p *Program) {}, func(b *Builder) {
		b.BaseTime, b.Extra = 1_700_000_000_000_000_000, `"trace_id": "4F", "with_stack": 1, "note": {"a": [1, "b", null]}`
	}},
	{"whole_micros_with_waits", "graphs", 28, func(p *Program) { p.IntegerMicros, p.SyncRecords = true, true }, func(b *Builder) {}},
}

// Odd returns traces unlike a training process: those that grow in one direction, in a small form, and what other
// programs, other profilers and broken files hold. Not all hold something to analyse.
func Odd(tb testing.TB) []MadeTrace {
	tb.Helper()
	var list []MadeTrace
	for _, h := range Hostiles {
		var b bytes.Buffer
		if err := h.Write(&b, 20); err != nil {
			tb.Fatal(err)
		}
		list = append(list, MadeTrace{"hostile_" + h.Name, Parse(tb, b.Bytes())})
	}
	for _, o := range odd {
		list = append(list, MadeTrace{o.name, Parse(tb, []byte(o.text))})
	}
	return list
}
