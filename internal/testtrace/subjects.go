package testtrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/kineto"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// Subjects calls look, each time in a test of its own, for the traces that a statement is to hold for: the demo, a
// simulated one of each class, and the real ones that are at hand, large ones only when OVERLAY_LONG is set. look may
// skip a trace that it cannot use; the test fails when it skips all of the made ones.
func Subjects(t *testing.T, look func(t *testing.T, tr *trace.Trace)) {
	t.Helper()
	used := 0
	one := func(name string, tr *trace.Trace) {
		t.Run(name, func(t *testing.T) {
			look(t, tr)
			used++
		})
	}
	for _, m := range Made(t) {
		one(m.Name, m.Trace)
	}
	if used == 0 && !t.Failed() {
		t.Error("none of the made traces was of use")
	}
	for _, name := range corpus.Find(t) {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > 500_000 && os.Getenv("OVERLAY_LONG") == "" {
			continue
		}
		one(strings.TrimSuffix(filepath.Base(name), ".json.gz"), Read(t, name))
	}
}

// MadeTrace is a trace of the project's own.
type MadeTrace struct {
	Name  string
	Trace *trace.Trace
}

// Made returns the demo and a simulated trace of each class.
func Made(tb testing.TB) []MadeTrace {
	tb.Helper()
	list := []MadeTrace{{"demo", Read(tb, corpus.Demo(tb))}}
	for i, class := range Classes {
		var r Run
		r.Simulate(Random(class, uint64(i)+1))
		b, _ := r.Build()
		list = append(list, MadeTrace{"simulated_" + class, b.Parse(tb)})
	}
	return list
}

// Read reads a trace from a file.
func Read(tb testing.TB, name string) *trace.Trace {
	tb.Helper()
	r, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer r.Close()
	tr, err := kineto.Read(r, filepath.Base(name), kineto.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return tr
}

// Analyse finds the exact path of a trace; false when it holds nothing to analyse.
func Analyse(tb testing.TB, tr *trace.Trace) (g *graph.Graph, p *critpath.Path, ok bool) {
	tb.Helper()
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if g.Window.End <= g.Window.Start {
		return g, nil, false
	}
	if p, err = critpath.Exact(g); err != nil {
		tb.Fatal(err)
	}
	return g, p, true
}
