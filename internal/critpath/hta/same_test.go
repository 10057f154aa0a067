package hta_test

import (
	"flag"
	"testing"

	"overlay/internal/critpath/hta"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds graphs of this method to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		g, err := hta.Find(m.Trace, hta.Options{})
		if err != nil {
			lines = append(lines, m.Name+" "+digest.Of(err.Error()))
			continue
		}
		lines = append(lines, m.Name+" "+digest.Of(g))
	}
	digest.Check(t, "graphs", lines, *update)
}
