package clock_test

import (
	"flag"
	"testing"

	"overlay/internal/clock"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds the clocks that are solved to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		lines = append(lines, m.Name+" "+digest.Of(clock.Solve(m.Trace)))
	}
	digest.Check(t, "clocks", lines, *update)
}
