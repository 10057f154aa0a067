package serving_test

import (
	"testing"

	"overlay/internal/capture"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/roofline"
	"overlay/internal/serving"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// The work of four fifths and more of the time of kernels is known where a capture has their shapes.
func TestRecordedWork(t *testing.T) {
	for _, pair := range [][2]string{
		{"TraceLens__sglang_decode__replay.json.gz", "TraceLens__sglang_decode__capture_bs_32.json.gz"},
		{"TraceLens__inference__vllm_prefilldecode_piecewise__graph_execution.json.gz", "TraceLens__vllm_prefilldecode_piecewise__capture.json.gz"},
	} {
		file := corpus.World
		if len(corpus.Find(t, pair[0])) > 0 {
			file = func(t testing.TB, name string) string { return corpus.Find(t, name)[0] }
		}
		tr := testtrace.Read(t, file(t, pair[0]))
		if _, err := capture.Join(tr, capture.Find(testtrace.Read(t, corpus.World(t, pair[1])), "")); err != nil {
			t.Fatal(err)
		}
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		known, all := int64(0), int64(0)
		for _, r := range roofline.NewMeter(g).Rows() {
			if known += r.NS; r.Compute > 1 || r.Memory > 1 || r.Peak == 0 {
				t.Errorf("%s: %s: %.2f of the peak %.0f, %.2f of memory", pair[0], r.Name, r.Compute, r.Peak, r.Memory)
			}
		}
		for i := range tr.Events {
			if tr.Events[i].Kind == trace.Kernel {
				all += tr.Dur(&tr.Events[i])
			}
		}
		if t.Logf("%s: the work of %d of %d ns", pair[0], known, all); 10*known < 9*all {
			t.Errorf("%s: the work of %d of %d ns is known", pair[0], known, all)
		}
	}
}

// The recorded decode of SGLang took 10.4 ms, behind 463 ms of earlier work; what a memory of twice the bandwidth would do is said only where
// its capture tells what its kernels move.
func TestRecordedDecode(t *testing.T) {
	captured := capture.Find(testtrace.Read(t, corpus.World(t, "TraceLens__sglang_decode__capture_bs_32.json.gz")), "")
	for _, joined := range []bool{false, true} {
		tr := testtrace.Read(t, corpus.World(t, "TraceLens__sglang_decode__replay.json.gz"))
		if joined {
			if _, err := capture.Join(tr, captured); err != nil {
				t.Fatal(err)
			}
		}
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := critpath.Exact(g)
		if err != nil {
			t.Fatal(err)
		}
		list := serving.Of(g, critpath.StepTable(g.Steps, p), 463_380_000)
		serving.Replay(list, whatif.New(g))
		d := &list[0]
		if d.Type != "decode" || d.Time < 10_300_000 || d.Time > 10_600_000 || *d.PerS < 3000 || d.Busy < 0.9 {
			t.Errorf("%+v", *d)
		}
		last := d.Replays[len(d.Replays)-1]
		if said := last.Change == "twice the memory bandwidth"; said != joined || joined && (last.Time < 5_000_000 || last.Time > 7_000_000) {
			t.Errorf("joined %v: %+v", joined, d.Replays)
		}
	}
}
