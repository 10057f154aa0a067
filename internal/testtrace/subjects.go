package testtrace

import (
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// Subjects calls look, each time in a test of its own, for the traces that a statement is to hold for: the made ones,
// the odd ones, and the real ones that are at hand, large ones only when OVERLAY_LONG is set. look may skip an odd or a
// real trace, in which there may be nothing to look at, but none of the made ones.
func Subjects(t *testing.T, look func(t *testing.T, tr *trace.Trace)) {
	t.Helper()
	ran, looked := 0, 0
	one := func(name string, tr *trace.Trace, required bool) {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if required && t.Skipped() {
					t.Error("a trace that was made to be looked at was left out")
				}
			}()
			ran++
			look(t, tr)
			looked++
		})
	}
	for _, m := range Made(t) {
		one(m.Name, m.Trace, true)
	}
	if looked == 0 && ran > 0 && !t.Failed() { // none ran: other tests were asked for
		t.Error("no trace was looked at")
	}
	for _, m := range Odd(t) {
		one(m.Name, m.Trace, false)
	}
	for _, name := range corpus.Find(t) {
		one(strings.TrimSuffix(filepath.Base(name), ".json.gz"), Read(t, name), false)
	}
}

// Analyse finds the exact path of a trace; false when it holds nothing to analyse.
func Analyse(t T, tr *trace.Trace) (g *graph.Graph, p *critpath.Path, ok bool) {
	t.Helper()
	if g = Graph(t, tr); g.Window.End <= g.Window.Start {
		return g, nil, false
	}
	return g, Path(t, g), true
}
