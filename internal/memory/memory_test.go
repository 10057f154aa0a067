package memory_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"overlay/internal/memory"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
)

// TestPeak: what holds the peak is what was allocated and not freed until then, under the operator, module and line that asked for it.
func TestPeak(t *testing.T) {
	const us = 1000
	b := testtrace.New()
	b.NoFlows = true
	main, engine := b.Thread(1, 1, "main"), b.Thread(1, 2, "engine")
	held := int64(500) // before recording began
	event := func(th *testtrace.Thread, at, addr, bytes int64) {
		held += bytes
		th.Instant("[memory]", at*us).Arg("Device Type", 1).Arg("Device Id", 0).Arg("Addr", addr).Arg("Bytes", bytes).Arg("Total Allocated", held).Arg("Total Reserved", 4096)
	}
	main.Annotation("ProfilerStep#3", 0, 900*us)
	main.Frame("train.py(7): step", 5*us, 800*us)
	main.Frame("nn.Module: Linear_12", 10*us, 100*us)
	main.Op("aten::linear", 20*us, 80*us)
	main.Op("aten::empty", 30*us, 10*us)
	engine.Op("autograd::engine::evaluate_function: AddmmBackward0", 300*us, 100*us)
	engine.Op("aten::mm", 310*us, 20*us)
	event(main, 35, 1, 100)
	event(main, 50, 2, 30) // in linear, after what lies inside of it
	event(main, 60, 3, 7)
	event(main, 70, 3, -7)
	event(main, 120, 4, 20) // by no operator
	event(engine, 315, 5, 40)
	event(main, 500, 1, -100)
	event(main, 600, 1, 5) // at an address that is used again
	g, p := testtrace.Exact(t, b.Parse(t))
	got := memory.Held(g, p.Window.Start, p.Window.End, nil)
	for i := range got {
		got[i].Allocated, got[i].Drawn = nil, nil
	}
	want := []memory.Use{{Device: "GPU 0", Events: 8, Peak: 690, Reserved: 4096, PeakAt: 315 * us, Event: got[0].Event, Step: "ProfilerStep#3", Unseen: 500, Holders: []memory.Holder{
		{Operator: "aten::linear", Module: "Linear", Line: "train.py(7): step", Bytes: 130, Count: 2},
		{Operator: "autograd::engine::evaluate_function: AddmmBackward0", Bytes: 40, Count: 1},
		{Line: "train.py(7): step", Bytes: 20, Count: 1},
	}}}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(memory.Use{})); d != "" {
		t.Error(d)
	}
	if at := g.Trace.Events[got[0].Event].Start; at != 315*us {
		t.Errorf("the allocation of the peak is at %d", at)
	}
	if u := memory.Held(g, 400*us, 600*us, nil)[0]; u.Peak != 595 || u.PeakAt != 600*us || u.Unseen != 500 || u.Holders[0].Bytes != 40 {
		t.Errorf("of a part of it: %+v", u)
	}
}

// TestMany: of more owners than a list has, the others are one number.
func TestMany(t *testing.T) {
	b := testtrace.New()
	b.NoFlows = true
	main := b.Thread(1, 1, "main")
	for i := range int64(300) {
		main.Op(fmt.Sprint("op", i), 100*i, 50)
		main.Instant("[memory]", 100*i+10).Arg("Device Type", 1).Arg("Device Id", 0).Arg("Addr", i+1).Arg("Bytes", i+1).Arg("Total Allocated", (i+1)*(i+2)/2).Arg("Total Reserved", 1<<20)
	}
	g, p := testtrace.Exact(t, b.Parse(t))
	u := memory.Held(g, p.Window.Start, p.Window.End, nil)[0]
	if u.Peak != 300*301/2 || u.Unseen != 0 || len(u.Holders) != 200 || u.Holders[0].Operator != "op299" || u.Others != 100*101/2 {
		t.Errorf("%d bytes, %d not seen, %d holders, %d of others", u.Peak, u.Unseen, len(u.Holders), u.Others)
	}
}

// TestRecorded: of real traces holders and what is not seen sum to the peak, and nearly all have an operator.
func TestRecorded(t *testing.T) {
	found := 0
	for _, name := range corpus.Find(t, "*.json.gz") {
		g, p := testtrace.Exact(t, testtrace.Read(t, name))
		for _, u := range memory.Held(g, p.Window.Start, p.Window.End, nil) {
			sum, named := u.Unseen+u.Others, int64(0)
			for _, h := range u.Holders {
				if sum += h.Bytes; h.Operator != "" && h.Module != "" && h.Line != "" {
					named += h.Bytes
				}
			}
			if sum != u.Peak {
				t.Errorf("%s: %s has %d bytes of %d", name, u.Device, sum, u.Peak)
			}
			if u.Peak > 1<<20 {
				if found++; 10*named < 9*(u.Peak-u.Unseen) {
					t.Errorf("%s: %s: %d bytes of %d have operator, module and line", name, u.Device, named, u.Peak-u.Unseen)
				}
			}
		}
	}
	if found < 2 {
		t.Skip("needs traces with memory events")
	}
}
