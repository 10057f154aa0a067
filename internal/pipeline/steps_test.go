package pipeline_test

import (
	"maps"
	"strings"
	"testing"

	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestCompareSteps: each side of a comparison of steps has the length and the classes of that step in the report of the whole, whatever is
// named, and nobody named gets the longest against one in the middle.
func TestCompareSteps(t *testing.T) {
	compared := 0
	for _, x := range testtrace.Made(t) {
		r, err := pipeline.Solve(x.Trace, pipeline.Options{}, false)
		if err != nil {
			t.Fatal(err)
		}
		var steps []report.Step
		var longest int64
		for _, s := range r.Report(report.Source{Name: "x"}).Steps {
			if trace.IsStep(s.Name) {
				steps, longest = append(steps, s), max(longest, s.Duration)
			}
		}
		if len(steps) < 2 {
			continue
		}
		compared++
		number := func(s report.Step) string { return strings.TrimPrefix(s.Name, trace.StepPrefix) }
		a, b := steps[0], steps[len(steps)-1]
		d, _, err := r.CompareSteps(report.Source{Name: "x"}, number(b), number(a))
		if err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		for i, side := range []*report.Report{d.Before, d.After} {
			want := []report.Step{a, b}[i]
			if side.Window.Start != want.Start || side.Window.Duration != want.Duration || !maps.Equal(side.Path.ByClass, want.ByClass) {
				t.Errorf("%s: %s is %+v with %v, in the report %+v", x.Name, want.Name, side.Window, side.Path.ByClass, want)
			}
		}
		d, _, err = r.CompareSteps(report.Source{Name: "x"}, "", "")
		if err != nil || d.After.Window.Duration != longest || d.Before.Window.Start == d.After.Window.Start {
			t.Errorf("%s: %v, compared %+v with %+v, the longest takes %d", x.Name, err, d.Before.Window, d.After.Window, longest)
		}
	}
	if compared == 0 {
		t.Error("no trace has two steps")
	}
}
