package analyses_test

import (
	"flag"
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds the results of all analyses to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		g, p, ok := testtrace.Analyse(t, m.Trace)
		if !ok {
			continue
		}
		lines = append(lines, m.Name+" "+digest.Of(analyses.Run(g, p, analyses.Names, analyses.Options{})))
	}
	digest.Check(t, "results", lines, *update)
}
