package reported

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/report"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// ByMethod makes the report of a trace by each method, with or without the walk and the analyses.
func ByMethod(t testing.TB, name string, tr *trace.Trace, segments bool) map[string]*report.Report {
	t.Helper()
	g, err := graph.Build(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	ctda, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]*critpath.Path{"exact": exact, "ctda": ctda}
	if h, err := hta.Find(tr, hta.Options{First: -1}); err == nil {
		paths["hta"] = h.AsPath()
	}
	out := map[string]*report.Report{}
	for method, p := range paths {
		m := whatif.New(g)
		s := report.Source{Name: name, Version: "test", Graph: g, Path: p, Segments: segments, Model: m, Gains: true, Advice: advise.Find(g, exact, func() *whatif.Model { return m })}
		if segments {
			s.Analyses = analyses.Run(g, p, analyses.Names, analyses.Options{})
		}
		out[method] = report.New(s)
	}
	return out
}

// File reads a trace file and reports on it.
func File(t testing.TB, path string, o cdg.Options) *report.Report {
	t.Helper()
	g, err := graph.Build(read(t, path), o)
	if err != nil {
		t.Fatal(err)
	}
	p, err := critpath.Exact(g)
	if err != nil {
		t.Fatal(err)
	}
	return report.New(report.Source{Name: path, Version: "test", Graph: g, Path: p, Segments: true, Model: whatif.New(g), Gains: true, Advice: advise.Find(g, p, func() *whatif.Model { return whatif.New(g) }), Analyses: analyses.Run(g, p, analyses.Names, analyses.Options{})})
}

// Texts holds what becomes of inputs to a file that has each of them, and below it what becomes of it.
func Texts(t *testing.T, file string, update bool, text func(t *testing.T, name string, in []byte) string) {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(a.Files); i += 2 {
		in := a.Files[i]
		t.Run(in.Name, func(t *testing.T) { a.Files[i+1].Data = []byte(text(t, in.Name, in.Data)) })
	}
	Golden(t, file, txtar.Format(a), update)
}

// Golden compares a text with the file that has the expected one, or rewrites the file.
func Golden(t testing.TB, file string, got []byte, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("%v: run the test with -update", err)
		return
	}
	if !bytes.Equal(got, want) {
		a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Errorf("%s: line %d is %q, the golden has %q", file, i+1, a[i], b[i])
				return
			}
		}
		t.Errorf("%s: %d lines, the golden has %d", file, len(a), len(b))
	}
}
