package cdg_test

import (
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

// TestSame holds what graphs of events say to what they said.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		g := *testtrace.Graph(t, m.Trace).Graph
		layout := *g.Layout
		g.Layout, layout.Trace = &layout, nil
		lines = append(lines, m.Name+" "+digest.Of(&g))
	}
	digest.Check(t, "graphs", lines, *update)
}
