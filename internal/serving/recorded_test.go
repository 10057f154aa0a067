package serving_test

import (
	"testing"

	"overlay/internal/capture"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/serving"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/whatif"
)

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
