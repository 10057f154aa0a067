package report

import (
	"testing"

	"overlay/internal/advise"
)

// TestSingular: one of several things is named as one.
func TestSingular(t *testing.T) {
	for name, want := range map[string]string{"steps": "step", "copies": "copy", "fetches": "fetch", "passes": "pass", "long ones": "long one", "late": "late",
		"collectives of the path that it came into last": "collective of the path that it came into last", "of which shapes are known": "of which shapes are known"} {
		if got := singular(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if got := numberText(&advise.Number{Name: "steps", Count: 1}); got != "1 step" {
		t.Error(got)
	}
}

// Of a server each type of step has its median: a prompt is no slow token.
func TestStepWordsByType(t *testing.T) {
	r := &JobReport{judged: 2}
	for i, s := range []JobStep{{Type: "prefill", Duration: 50_000_000}, {Type: "decode", Duration: 10_000_000}, {Type: "decode", Duration: 12_000_000}, {Type: "decode", Duration: 11_000_000}, {Type: "decode", Duration: 90_000_000}} {
		s.Number, s.Whole, s.Bad = i, i < 4, false
		r.Job.Steps = append(r.Job.Steps, s)
	}
	if got, want := r.stepWords(), "5 steps, 4 complete on every rank, median 50.00 ms of 1 prefill, 11.00 ms of 3 decode. No stragglers."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for i := range r.Job.Steps {
		r.Job.Steps[i].Type = ""
	}
	if got, want := r.stepWords(), "5 steps, 4 complete on every rank, median 11.50 ms. No stragglers."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
