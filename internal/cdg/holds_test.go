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
		along, plain, err := cdg.DeviceHolds(tr)
		if err != nil {
			t.Fatal(err)
		}
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

// TestHoldsOfRecords: a record names the stream that a call waits for, whatever its thread launched on last.
func TestHoldsOfRecords(t *testing.T) {
	b := testtrace.New()
	b.Slice("cuda_runtime", "cudaLaunchKernel", 1, 1, 0, 5_000).Arg("correlation", 1)
	b.Slice("cuda_runtime", "cudaLaunchKernel", 1, 1, 10_000, 5_000).Arg("correlation", 2)
	b.Slice("cuda_runtime", "cudaStreamSynchronize", 1, 1, 200_000, 2_000).Arg("correlation", 3)
	b.Slice("kernel", "named", 0, 7, 20_000, 20_000).Arg("correlation", 1).Arg("stream", 7)
	b.Slice("kernel", "launched last", 0, 8, 30_000, 20_000).Arg("correlation", 2).Arg("stream", 8)
	b.Slice("cuda_sync", "Stream Sync", 0, 7, 200_000, 2_000).Arg("correlation", 3).Arg("stream", 7)
	g, err := cdg.Build(b.Parse(t), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	holds := g.Holds()
	if len(holds) != 1 {
		t.Fatalf("%d holds: %v", len(holds), holds)
	}
	if name := g.Trace.Name(g.Acts[holds[0].Op].Event); name != "named" {
		t.Errorf("the call waits for %q", name)
	}
}
