package memory_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"overlay/internal/memory"
	"overlay/internal/testtrace"
)

// TestSnapshot: levels go back from the end of a snapshot, and so know what was held before; an allocation that the trace has, too, has an
// operator, and one that it lacks its line.
func TestSnapshot(t *testing.T) {
	const us = 1000
	b := testtrace.New()
	b.NoFlows = true
	main := b.Thread(1, 1, "main")
	main.Annotation("ProfilerStep#3", 0, 100*us)
	main.Op("aten::linear", 20*us, 20*us)
	main.Instant("[memory]", 32*us).Arg("Device Type", 1).Arg("Device Id", 0).Arg("Addr", 4096).Arg("Bytes", 1000).Arg("Total Allocated", 1000).Arg("Total Reserved", 4096)
	main.Instant("[memory]", 33*us).Arg("Device Type", 0).Arg("Device Id", -1).Arg("Addr", 1).Arg("Bytes", 8).Arg("Total Allocated", 8).Arg("Total Reserved", 0)
	g, p := testtrace.Exact(t, b.Parse(t))
	s := &memory.Snapshot{Devices: []memory.Recorded{{Allocated: 5300, Reserved: 1 << 20, Changes: []memory.Change{
		{At: 10 * us, Addr: 1, Bytes: -700},
		{At: 30 * us, Addr: 4096, Reserved: 1 << 19},
		{At: 31 * us, Addr: 4096, Bytes: 1000, Line: "model.py(12): forward"},
		{At: 40 * us, Addr: 8192, Bytes: 512, Line: "train.py(9): step"},
		{At: 51 * us, Addr: 8192, Bytes: -512},
		{At: 99_000 * us, Addr: 4, Bytes: 300},
	}}}}
	got := memory.Held(g, p.Window.Start, p.Window.End, s)
	want := []memory.Use{
		{Device: "GPU 0", Events: 5, Peak: 5512, Reserved: 1 << 20, PeakAt: 40 * us, Event: -1, Step: "ProfilerStep#3", Unseen: 4000, Snapshot: true, Holders: []memory.Holder{
			{Operator: "aten::linear", Line: "model.py(12): forward", Bytes: 1000, Count: 1},
			{Line: "train.py(9): step", Bytes: 512, Count: 1},
		}},
		{Device: "cpu", Events: 1, Peak: 8, PeakAt: 33 * us, Event: 3, Step: "ProfilerStep#3", Holders: []memory.Holder{{Operator: "aten::linear", Bytes: 8, Count: 1}}},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(memory.Use{}), cmpopts.IgnoreFields(memory.Use{}, "Allocated", "Drawn")); d != "" {
		t.Error(d)
	}
	if u := memory.Held(g, 200_000*us, 300_000*us, s); len(u) != 0 {
		t.Errorf("after all of it: %+v", u)
	}
}
