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
