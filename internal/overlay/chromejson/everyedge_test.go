package chromejson_test

import (
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/importer"
)

// TestEveryCriticalEdgeIsAnArrow looks at what the traces of TestOutputs have not: one stream with thousands of kernels, one
// after the other or each in the next.
func TestEveryCriticalEdgeIsAnArrow(t *testing.T) {
	look := func(name string, gap int64) (edges, standIns int) {
		t.Run(name, func(t *testing.T) {
			tr := testtrace.BusyStream(1, gap).Parse(t)
			p, ov := annotate(t, tr, overlay.Options{})
			out, st := write(t, tr, ov)
			after, err := importer.Import(out)
			if err != nil {
				t.Fatal(err)
			}
			compareArrows(t, after, outputPositions(tr, ov), ov, st)
			edges, standIns = edgesAreArrows(t, p, after, st, 1000), st.StandIns
		})
		return edges, standIns
	}
	if edges, _ := look("stream", 100); edges < 5000 {
		t.Errorf("only %d edges: too few to be cut", edges)
	}
	if edges, standIns := look("overlaps", -10); edges < 5000 || standIns < edges/2 {
		t.Errorf("only %d edges, %d at segments", edges, standIns)
	}
}

// edgesAreArrows looks at an output as the viewer reads it: of 1,000 edges of the path at least 998 are arrows, and no click
// draws more than limit arrows, the input's among them. It returns how many edges the path has.
func edgesAreArrows(t *testing.T, p *critpath.Path, after *importer.Result, st chromejson.Stats, limit int) (edges int) {
	t.Helper()
	for _, e := range p.Edges.List() {
		if e.From != e.To && e.Type != critpath.OperatorEdge {
			edges++
		}
	}
	if leftOut := edges - st.Arrows; leftOut*1000 > 2*edges {
		t.Errorf("%d of %d edges are no arrows", leftOut, edges)
	}
	if n := largestComponent(after); n > limit {
		t.Errorf("a click draws %d arrows", n)
	}
	return edges
}

// largestComponent is the number of arrows that a click on one slice draws at most.
func largestComponent(r *importer.Result) int {
	up := make([]int, len(r.Slices)) // towards the first slice of a component
	for i := range up {
		up[i] = i
	}
	first := func(i int) int {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	for _, f := range r.Flows {
		a, b := first(f.Out), first(f.In)
		up[max(a, b)] = min(a, b)
	}
	arrows, most := map[int]int{}, 0
	for _, f := range r.Flows {
		i := first(f.In)
		arrows[i]++
		most = max(most, arrows[i])
	}
	return most
}
