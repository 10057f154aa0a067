package critpath_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// simulatedTrace joins simulated training processes in time until they hold n events.
func simulatedTrace(tb testing.TB, n int) *trace.Trace {
	var r testtrace.Run
	r.Simulate(testtrace.Random("autograd", 1))
	b, _ := r.Build()
	tr := b.Parse(tb)
	return repeated(tr, (n+len(tr.Events)-1)/len(tr.Events))
}

// BenchmarkMethods sets the walks of both methods beside the graph that they share, on 500,000 simulated events.
func BenchmarkMethods(b *testing.B) {
	tr := simulatedTrace(b, 500_000)
	g := testtrace.Graph(b, tr)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Build", func() error { _, err := graph.Build(tr, cdg.Options{}); return err }},
		{"Exact", func() error { _, err := critpath.Exact(g); return err }},
		{"CTDA", func() error { _, err := critpath.CTDA(g); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(g.Nodes)), "nodes")
		})
	}
}
