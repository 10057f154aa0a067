package nodes_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// largest is the largest real trace.
func largest(b *testing.B) *trace.Trace {
	var tr *trace.Trace
	for _, file := range corpus.Files(b, "*.json.gz") {
		if t := testtrace.Read(b, file); tr == nil || len(t.Events) > len(tr.Events) {
			tr = t
		}
	}
	return tr
}

// BenchmarkNodes sets phases and aggregated nodes beside the whole graph, on the largest real trace.
func BenchmarkNodes(b *testing.B) {
	tr := largest(b)
	g := testtrace.Graph(b, tr)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Build", func() error { _, err := graph.Build(tr, cdg.Options{}); return err }},
		{"Nodes", func() error { nodes.Aggregate(g.Graph, phases.Find(g.Graph.Layout)); return nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(tr.Events))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mevents/s")
		})
	}
}
