package nodes_test

import (
	"bytes"
	"testing"
	"time"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/textcheck"
	"overlay/internal/trace"
)

// BenchmarkAdded measures what the aggregated graph and the ctda method add to the exact method: to reading, the
// event-level dependencies and the exact walk. On several cores phases run beside the rules; -cpu 1 hides nothing.
// The generated traces have half a million events and a node for every 10 (with stacks 18) of them, the real one for
// every 867.
func BenchmarkAdded(b *testing.B) {
	generated := func(stacks bool) []byte {
		var buf bytes.Buffer
		if err := testtrace.Large(&buf, 500_000, stacks); err != nil {
			b.Fatal(err)
		}
		return buf.Bytes()
	}
	b.Run("generated", func(b *testing.B) { added(b, generated(false)) })
	b.Run("generated_stacks", func(b *testing.B) { added(b, generated(true)) })
	b.Run("largest_real", func(b *testing.B) { added(b, textcheck.Bytes(largest(b))) })
}

func added(b *testing.B, src []byte) {
	var read, deps, exact, build, ctda time.Duration
	var aggregated, events int
	timed := func(sum *time.Duration, work func() error) {
		start := time.Now()
		if err := work(); err != nil {
			b.Fatal(err)
		}
		*sum += time.Since(start)
	}
	for b.Loop() {
		var tr *trace.Trace
		var g *graph.Graph
		timed(&read, func() (err error) { tr, err = kineto.Parse(src, "bench", kineto.Options{}); return err })
		timed(&deps, func() (err error) { _, err = cdg.Build(tr, cdg.Options{}); return err })
		timed(&build, func() (err error) { g, err = graph.Build(tr, cdg.Options{}); return err })
		timed(&exact, func() error { _, err := critpath.Exact(g); return err })
		timed(&ctda, func() error { _, err := critpath.CTDA(g); return err })
		aggregated, events = len(g.Nodes), len(tr.Events)
	}
	base, more := read+deps+exact, build-deps+ctda
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(b.N) }
	b.ReportMetric(ms(read), "read-ms")
	b.ReportMetric(ms(deps), "deps-ms")
	b.ReportMetric(ms(exact), "exact-ms")
	b.ReportMetric(ms(build-deps), "nodes-ms")
	b.ReportMetric(ms(ctda), "ctda-ms")
	b.ReportMetric(100*float64(more)/float64(base), "%-added")
	b.ReportMetric(float64(aggregated), "nodes")
	b.ReportMetric(float64(events), "events")
}
