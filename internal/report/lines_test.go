package report

import (
	"slices"
	"testing"

	"overlay/internal/analyses"
)

// TestEveryAnalysisHasAForm: an analysis without a form would have a title and nothing below it.
func TestEveryAnalysisHasAForm(t *testing.T) {
	var got []string
	for _, a := range analysisForms {
		got = append(got, a.name)
		if a.title == "" || (a.section == nil) != (a.name == "timeline") {
			t.Errorf("%s has no title, or no section", a.name)
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(analyses.Names)); !slices.Equal(got, want) {
		t.Errorf("forms of %q, the analyses are %q", got, want)
	}
}
