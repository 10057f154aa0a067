package cdg_test

import (
	"bytes"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestDeviceHolds: what device synchronisations wait for is found along launches as by a look at every stream for each.
func TestDeviceHolds(t *testing.T) {
	found := 0
	check := func(name string, tr *trace.Trace) {
		g, err := cdg.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		along, plain := g.DeviceHolds()
		if !slices.Equal(along, plain) {
			t.Errorf("%s: %d along launches, %d by a look at every stream", name, len(along), len(plain))
		}
		found += len(plain)
	}
	parse := func(name string, text []byte) {
		tr, err := kineto.Parse(text, name, kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		check(name, tr)
	}
	for _, kind := range testtrace.Hostiles {
		var b bytes.Buffer
		if err := kind.Write(&b, 40); err != nil {
			t.Fatal(err)
		}
		parse(kind.Name, b.Bytes())
	}
	for _, class := range testtrace.Classes {
		for seed := range uint64(5) {
			var r testtrace.Run
			r.Simulate(testtrace.Random(class, seed))
			b, _ := r.Build()
			parse(class, b.JSON())
		}
	}
	for _, made := range testtrace.Made(t) {
		check(made.Name, made.Trace)
	}
	if found < 100 {
		t.Errorf("only %d holds in all", found)
	}
}
