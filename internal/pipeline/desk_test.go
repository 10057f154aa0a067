package pipeline_test

import (
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/whatif"
)

// TestDeskPath: what a slider shows, of questions that are asked one after the other, is the path that the simulated run has for the whatif command.
func TestDeskPath(t *testing.T) {
	asked, list := 0, testtrace.Steady(t)
	alone, _ := filepath.Glob("../../testdata/real/*/*.json.zst")
	real, _ := filepath.Glob("../../testdata/real/*/*/rank0.json.zst")
	if real = append(real, alone...); len(real) < 20 {
		t.Fatal("no recorded runs", real)
	}
	for _, name := range append(append(real, corpus.Demo(t)), corpus.Find(t)...) {
		list = append(list, testtrace.MadeTrace{Name: name, Trace: testtrace.Read(t, name)})
	}
	for _, tr := range list {
		run, err := pipeline.Solve(tr.Trace, pipeline.Options{}, false)
		if err != nil { // a trace without activities
			continue
		}
		desk, m := run.Desk(), whatif.New(testtrace.Graph(t, tr.Trace))
		find := whatif.NewSelector(m, report.Readable)
		for _, text := range []string{"class:cpu=0.5", "class:gpu_compute=0.25;class:cpu=2", "class:communication=0", "launch=0", "sync=0.5;handoff=0", "class:copy=2;class:python=0", "untraced=0.5", "class:runtime=0;launch=3"} {
			sc, err := find.Scenario(text)
			if err != nil { // nothing of it is in the trace
				continue
			}
			asked++
			got, err := desk.Ask(text)
			if err != nil {
				t.Fatal(err)
			}
			a := got.Scenarios[0]
			r := m.Replay(&sc)
			if left := float64(r.Recorded() - got.Earlier); left > 0 && math.Abs(a.SavedShare-float64(r.Saved())/left) > 1e-6 {
				t.Errorf("%s %s: a share of %v, saved %d of %v", tr.Name, text, a.SavedShare, r.Saved(), left)
			}
			_, p, err := r.Path()
			if err != nil {
				t.Fatal(err)
			}
			sum, by, strip := critpath.Breakdown(p), map[string]int64{}, []report.Run(nil)
			for c, ns := range sum.Class {
				if ns > 0 {
					by[critpath.Class(c).String()] = ns
				}
			}
			for _, s := range critpath.NewClassPieces(p).Strip(p.Window.Start, p.Window.End) {
				strip = append(strip, report.Run{Start: s.Start, End: s.End, Class: s.Class.String()})
			}
			low, high := r.Range()
			if a.Window != r.Window || a.Low != low || a.High != high || a.Confidence != r.Confidence().String() || a.BoundBy != critpath.BoundBy(&sum.Class).String() {
				t.Errorf("%s %s: %+v, want %d ns (%d to %d)", tr.Name, text, a, r.Window, low, high)
			}
			for class, ns := range a.ByClass {
				if ns == 0 {
					delete(a.ByClass, class)
				}
			}
			if !maps.Equal(a.ByClass, by) || !slices.Equal(a.Strip, strip) {
				t.Errorf("%s %s: %v, want %v; strips differ: %v", tr.Name, text, fmt.Sprint(a.ByClass), by, !slices.Equal(a.Strip, strip))
			}
		}
	}
	if asked < 100 {
		t.Errorf("%d questions only", asked)
	}
}
