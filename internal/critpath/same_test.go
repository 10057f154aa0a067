package critpath_test

import (
	"flag"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/digest"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestSame holds paths of both methods, and what is said of them, to what they were.
func TestSame(t *testing.T) {
	var lines []string
	for _, m := range testtrace.Steady(t) {
		g := testtrace.Graph(t, m.Trace)
		for _, method := range []struct {
			name string
			find critpath.Method
		}{{"exact", critpath.Exact}, {"ctda", critpath.CTDA}} {
			p, err := method.find(g)
			if err != nil {
				t.Fatal(m.Name, err)
			}
			said := struct {
				Segments []critpath.Segment
				Edges    []critpath.Edge
				Marks    []critpath.Mark
				Hotspots []critpath.Hotspot
				Totals   critpath.Totals
				Steps    []critpath.StepLine
			}{p.Segments.List(), p.Edges.List(), nil, critpath.Hotspots(g, p), critpath.Breakdown(p), critpath.StepTable(g.Steps, p)}
			for _, x := range p.Marks.All() {
				said.Marks = append(said.Marks, x)
			}
			lines = append(lines, m.Name+"_"+method.name+" "+digest.Of(said))
		}
	}
	digest.Check(t, "paths", lines, *update)
}
