package cdg_test

import (
	"bytes"
	"testing"
	"time"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
)

// BenchmarkMethods measures what the aggregated graph and the ctda method add to the exact method: to reading, the
// event-level dependencies and the exact walk, on half a million events. The generated traces have a node for every
// ten events, a hundred times as many as real ones.
func BenchmarkMethods(b *testing.B) {
	generated := func(stacks bool) []byte {
		var buf bytes.Buffer
		if err := testtrace.Large(&buf, 500_000, stacks); err != nil {
			b.Fatal(err)
		}
		return buf.Bytes()
	}
	b.Run("generated", func(b *testing.B) { methods(b, generated(false)) })
	b.Run("generated_stacks", func(b *testing.B) { methods(b, generated(true)) })
	b.Run("largest_real", func(b *testing.B) { methods(b, largest(b).Src) })
}

func methods(b *testing.B, src []byte) {
	var read, deps, exact, build, ctda time.Duration
	var nodes, events int
	timed := func(sum *time.Duration, work func() error) {
		start := time.Now()
		if err := work(); err != nil {
			b.Fatal(err)
		}
		*sum += time.Since(start)
	}
	for b.Loop() {
		var tr *kineto.Trace
		var g *cdg.Graph
		timed(&read, func() (err error) { tr, err = kineto.Parse(src, "bench", kineto.Options{Jobs: 2}); return err })
		timed(&deps, func() (err error) { g, err = cdg.BuildDeps(tr, cdg.Options{}); return err })
		timed(&exact, func() error { _, err := critpath.Exact(g, critpath.Options{}); return err })
		timed(&build, func() (err error) { g, err = cdg.Build(tr, cdg.Options{}); return err })
		timed(&ctda, func() error { _, err := critpath.CTDA(g, critpath.Options{}); return err })
		nodes, events = len(g.Nodes), len(tr.Events)
	}
	base, added := read+deps+exact, build-deps+ctda
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(b.N) }
	b.ReportMetric(ms(read), "read-ms")
	b.ReportMetric(ms(deps), "deps-ms")
	b.ReportMetric(ms(exact), "exact-ms")
	b.ReportMetric(ms(build-deps), "nodes-ms")
	b.ReportMetric(ms(ctda), "ctda-ms")
	b.ReportMetric(100*float64(added)/float64(base), "%-added")
	b.ReportMetric(float64(nodes), "nodes")
	b.ReportMetric(float64(events), "events")
}
