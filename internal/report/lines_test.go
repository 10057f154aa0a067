package report

import (
	"maps"
	"slices"
	"testing"

	"overlay/internal/analyses"
)

// TestEveryAnalysisHasLines: an analysis without lines would end the program when its text is printed.
func TestEveryAnalysisHasLines(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(analysisLines)), slices.Sorted(slices.Values(analyses.Names)); !slices.Equal(got, want) {
		t.Errorf("lines for %q, the analyses are %q", got, want)
	}
}
