package advise

import (
	"bytes"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/processor"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// benchTraces are what advice is timed on: a real trace of 274,000 events, and generated ones.
func benchTraces(b *testing.B, bench func(b *testing.B, g *graph.Graph, p *critpath.Path)) {
	b.Helper()
	run := func(name string, tr func(b *testing.B) *trace.Trace) {
		b.Run(name, func(b *testing.B) {
			g, p := testtrace.Exact(b, tr(b))
			b.ReportAllocs()
			b.ResetTimer()
			used := processor.Time()
			bench(b, g, p)
			b.ReportMetric(float64(processor.Time()-used)/float64(b.N), "cpu-ns/op")
		})
	}
	run("asdf_False", func(b *testing.B) *trace.Trace {
		tr := testtrace.Read(b, corpus.Files(b, "SAF__amg_example__asdf_False.c51dc12.json.gz")[0])
		return tr
	})
	for name, python := range map[string]bool{"generated": false, "generated with Python stacks": true} {
		run(name, func(b *testing.B) *trace.Trace {
			var src bytes.Buffer
			if err := testtrace.Large(&src, 200_000, python); err != nil {
				b.Fatal(err)
			}
			tr := testtrace.Parse(b, src.Bytes())
			return tr
		})
	}
}

// BenchmarkAdvise makes the advice of a run, its model included.
func BenchmarkAdvise(b *testing.B) {
	benchTraces(b, func(b *testing.B, g *graph.Graph, p *critpath.Path) {
		for b.Loop() {
			Find(g, p, func() *whatif.Model { return whatif.New(g) })
		}
	})
}
