package testtrace

import (
	"os"
	"path/filepath"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

// T is a test, a benchmark or a case of a property: what the first steps of most tests need of it. They end it on an error.
type T interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// Parse reads the text of a trace.
func Parse(t T, text []byte) *trace.Trace {
	t.Helper()
	tr, err := kineto.Parse(text, "test.json", kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Read reads a trace from a file.
func Read(t T, name string) *trace.Trace {
	t.Helper()
	r, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tr, err := traceread.Read(r, filepath.Base(name), kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Simulated is the trace of a simulated program.
func Simulated(p *Program) *Builder {
	var r Run
	r.Simulate(p)
	b, _ := r.Build()
	return b
}

// Graph is the graph of a whole trace.
func Graph(t T, tr *trace.Trace) *graph.Graph {
	t.Helper()
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Path is the exact path through a graph.
func Path(t T, g *graph.Graph) *critpath.Path {
	t.Helper()
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Exact is the graph of a whole trace and its exact path.
func Exact(t T, tr *trace.Trace) (*graph.Graph, *critpath.Path) {
	t.Helper()
	g := Graph(t, tr)
	return g, Path(t, g)
}
