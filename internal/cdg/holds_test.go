package cdg_test

import (
	"bytes"
	"slices"
	"testing"

	"overlay/internal/cdg"
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
		tr := testtrace.Parse(t, text)
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

// TestHoldsByRecord: a synchronisation that had nothing to wait for would wait for the stream that its cuda_sync record
// names, not for the one on which its thread launched last.
func TestHoldsByRecord(t *testing.T) {
	b := testtrace.New()
	main := b.Thread(1, 1, "")
	main.Launch("cudaLaunchKernel", 0, 4_000, 1)
	named := b.Stream(0, 7).Kernel("named", 10_000, 5_000, 1)
	main.Launch("cudaLaunchKernel", 20_000, 4_000, 2)
	b.Stream(0, 9).Kernel("launched last", 30_000, 5_000, 2)
	sync := main.Call("cudaStreamSynchronize", 90_000, 3_000, 3)
	b.Stream(0, 7).SyncRecord(testtrace.StreamSync, 90_000, 3_000, 3, -1, -1)
	g := build(t, b.Parse(t))
	want := []cdg.Hold{{Call: g.ActOf[sync.ID()], Op: g.ActOf[named.ID()]}}
	if got := g.Holds(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
