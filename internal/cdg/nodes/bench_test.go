package nodes_test

import (
	"os"
	"path/filepath"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// largest is the largest real trace.
func largest(b *testing.B) *trace.Trace {
	dir := os.Getenv("OVERLAY_CORPUS")
	if dir == "" {
		dir = "../../../shared/traces"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.json.gz"))
	var tr *trace.Trace
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			b.Fatal(err)
		}
		t, err := kineto.Read(f, file, kineto.Options{})
		f.Close()
		if err != nil {
			b.Fatal(err)
		}
		if tr == nil || len(t.Events) > len(tr.Events) {
			tr = t
		}
	}
	if tr == nil {
		b.Skipf("no traces in %s; set OVERLAY_CORPUS", dir)
	}
	return tr
}

// BenchmarkNodes sets phases and aggregated nodes beside the whole graph, on the largest real trace.
func BenchmarkNodes(b *testing.B) {
	tr := largest(b)
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		b.Fatal(err)
	}
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
