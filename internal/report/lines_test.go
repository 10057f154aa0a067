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
		if a.text == nil && a.print == nil || (a.title == "") != (a.page == nil) {
			t.Errorf("%s has no text, or a title without a section", a.name)
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(slices.Values(analyses.Names)); !slices.Equal(got, want) {
		t.Errorf("forms of %q, the analyses are %q", got, want)
	}
}
