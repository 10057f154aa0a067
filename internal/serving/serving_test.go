package serving_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/serving"
	"overlay/internal/testtrace"
	"overlay/internal/whatif"
)

// A server that decodes eagerly: each iteration the host works 60 µs, launches a kernel of 30 µs, waits for it and works another 20 µs until
// the next begins. A prefill comes first.
func TestIterationsByType(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	const us = 1000
	at, corr := int64(0), int64(1)
	iteration := func(name string, kernel int64) {
		main.Annotation(name, at, (100+kernel)*us)
		main.Op("aten::prepare", at+us, 49*us)
		main.Op("aten::mm", at+50*us, 16*us)
		main.Launch("cudaLaunchKernel", at+60*us, 5*us, corr)
		stream.Kernel("k", at+65*us, kernel*us, corr)
		main.Call("cudaStreamSynchronize", at+66*us, kernel*us, corr+1)
		main.Op("aten::sample", at+(67+kernel)*us, 32*us)
		main.Op("schedule", at+(101+kernel)*us, 18*us)
		at, corr = at+(120+kernel)*us, corr+2
	}
	iteration("step[EXTEND bs=1 toks=500]", 300)
	for range 9 {
		iteration("step[DECODE bs=4]", 30)
	}
	g, err := graph.Build(b.Parse(t), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	types := serving.Of(g, critpath.StepTable(g.Steps, p), 0)
	if len(types) != 2 || types[0].Type != "decode" || types[1].Type != "prefill" {
		t.Fatalf("%+v", types)
	}
	d := &types[0]
	if d.Count != 9 || *d.Batch != 4 || *d.Tokens != 4 || d.Marker != 130*us || d.P99 != 130*us || d.Time != 150*us || d.Gap != 20*us || d.Busy != 0.2 {
		t.Errorf("%+v", *d)
	}
	if n := *d.PerS; n != 26_666 { // 4 tokens in 150 µs
		t.Errorf("%d tokens a second", n)
	}
	serving.Replay(types, whatif.New(g))
	if len(d.Replays) != 3 { // no shapes: nothing is known to be bound by memory
		t.Fatalf("%+v", d.Replays)
	}
	if r := d.Replays[0]; r.Time > 45*us || r.Saved != d.Time-r.Time { // the kernel and its launch stay
		t.Errorf("infinitely fast CPU: %+v", r)
	}
	if r := d.Replays[1]; r.Time < 110*us || r.Time > 125*us { // the host goes on while the kernel runs
		t.Errorf("no waits: %+v", r)
	}
	if r := d.Replays[2]; r.Time < 135*us || r.Time > 141*us { // the operator around the launch takes no time
		t.Errorf("a graph: %+v", r)
	}
	// 100 µs of the only prefill are work from before recording, which none of its numbers counts.
	if brief := serving.Of(g, critpath.StepTable(g.Steps, p), 100*us); brief[0].Count != 9 || brief[0].Time != d.Time || brief[1].Count != 1 ||
		brief[1].Time != types[1].Time-100*us || brief[1].ByClass["gpu_compute"] != types[1].ByClass["gpu_compute"]-100*us || *brief[1].PerS <= *types[1].PerS {
		t.Errorf("%+v, of the whole %+v", brief, types)
	}
	again := serving.Of(g, critpath.StepTable(g.Steps, p), 0)
	serving.Replay(again, whatif.New(g))
	for i := range again[0].Replays {
		if again[0].Replays[i] != d.Replays[i] {
			t.Errorf("of a brief model %+v, want %+v", again[0].Replays[i], d.Replays[i])
		}
	}
}

// A server that launches ahead begins its first iterations at once: what they take, and tokens a second, go by the ends of what they launched.
// Drafts and what verifies them are one iteration.
func TestLaunchesAhead(t *testing.T) {
	b := testtrace.New()
	main, stream := b.Thread(1, 1, "main"), b.Stream(0, 7)
	const us = 1000
	at, free, corr := int64(0), int64(0), int64(1)
	run := func(name string, at, kernel int64) {
		main.Annotation(name, at, 40*us)
		main.Launch("cudaGraphLaunch", at+5*us, 4*us, corr)
		free = max(free, at+12*us)
		stream.Kernel(name, free, kernel, corr)
		free, corr = free+kernel, corr+1
	}
	for range 12 {
		main.Annotation("scheduler.run_batch", at, 150*us)
		run("draft step[DECODE bs=8]", at+5*us, 300*us)
		run("step[TARGET_VERIFY bs=8]", at+50*us, 4000*us)
		run("draft step[DRAFT_EXTEND_V2 bs=8]", at+95*us, 200*us)
		main.Call("cudaEventSynchronize", at+151*us, max(free-4500*us-at-151*us, us), corr)
		at, corr = max(free-4500*us, at+152*us)+10*us, corr+1
	}
	g, err := graph.Build(b.Parse(t), cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	types := serving.Of(g, critpath.StepTable(g.Steps, p), 0)
	if len(types) != 1 || types[0].Type != "verify" || types[0].Count != 12 || types[0].Time != 4500*us || *types[0].Batch != 8 || types[0].Tokens != nil {
		t.Fatalf("%+v", types)
	}
	if n := *types[0].PerS; n < 1770 || n > 1778 { // 8 requests in 4.5 ms, and a little more for the first
		t.Errorf("%d tokens a second", n)
	}
}
