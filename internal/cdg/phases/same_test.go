package phases_test

import (
	"flag"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds the phases of events to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		lines = append(lines, m.Name+" "+digest.Of(testtrace.Graph(t, m.Trace).Phases))
	}
	digest.Check(t, "phases", lines, *update)
}
