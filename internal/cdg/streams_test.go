package cdg_test

import (
	"fmt"
	"slices"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestOverlapInStream: stamps of a stream may overlap. An operation comes after the one that ends last of those before it, and of several that end together after the
// one that starts last, be it also longer or shorter.
func TestOverlapInStream(t *testing.T) {
	for _, c := range []struct {
		ends [2]int64
		want int
	}{{[2]int64{200, 200}, 1}, {[2]int64{210, 200}, 0}, {[2]int64{200, 210}, 1}} {
		b := testtrace.New()
		main, s := b.Thread(1, 1, "main"), b.Stream(0, 7)
		for i := range int64(3) {
			main.Launch("cudaLaunchKernel", 1000*(1+10*i), 5000, 1+i)
		}
		var list []*testtrace.Event
		for i, start := range []int64{100, 150} {
			list = append(list, s.Kernel("k", 1000*start, 1000*(c.ends[i]-start), int64(1+i)))
		}
		after := s.Kernel("after", 212_000, 10_000, 3)
		g := build(t, b.Parse(t))
		wants(t, fmt.Sprint("after those that end at ", c.ends), dependsOn(g, after, cdg.StreamOrder), fmt.Sprint(list[c.want].ID(), " stream"))
	}
}

// TestStreamOnTwoRows: exporters draw operations of a stream that overlap on rows of their own; they are one stream.
func TestStreamOnTwoRows(t *testing.T) {
	text := `{"traceEvents": [
{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1, "ts": 0, "dur": 10, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 12, "dur": 200, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 5001, "ts": 211.9, "dur": 200, "args": {"correlation": 1, "device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 7, "ts": 411.8, "dur": 200, "args": {"correlation": 1, "device": 0, "stream": 7}}]}`
	tr, err := kineto.Parse([]byte(text), "rows.json", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := build(t, tr)
	if len(g.Lanes) != 2 {
		t.Fatalf("%d lanes, wanted a thread and a stream", len(g.Lanes))
	}
	for _, op := range []trace.EventID{2, 3} {
		if waits := g.Sources(g.ActOf[op]); len(waits) == 0 || !slices.ContainsFunc(waits, func(w cdg.Wait) bool { return w.Bound && w.Rule == cdg.StreamOrder && g.Acts[w.From].Event == op-1 }) {
			t.Errorf("operation %d: %v", op, waits)
		}
	}
}
