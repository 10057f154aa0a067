package chromejson_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/chrome/importer"
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/trace"
)

// TestEveryCriticalEdgeIsAnArrow reads outputs back as the viewer does: of 1,000 edges of the path at least 998 are
// arrows, and no click draws more than 1,000 arrows, the input's among them, unless the input ties more than that together.
func TestEveryCriticalEdgeIsAnArrow(t *testing.T) {
	for _, m := range testtrace.Made(t) {
		t.Run(m.Name, func(t *testing.T) { everyEdgeIsAnArrow(t, m.Trace, 1000) })
	}
	t.Run("stream", func(t *testing.T) {
		if edges, _ := everyEdgeIsAnArrow(t, testtrace.BusyStream(1, 100).Parse(t), 1000); edges < 5000 {
			t.Errorf("only %d edges: too few to be cut", edges)
		}
	})
	t.Run("overlaps", func(t *testing.T) {
		if edges, standIns := everyEdgeIsAnArrow(t, testtrace.BusyStream(1, -10).Parse(t), 1000); edges < 5000 || standIns < edges/2 {
			t.Errorf("only %d edges, %d at segments", edges, standIns)
		}
	})
	for _, name := range corpus.Find(t, "*.json.gz") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json.gz"), func(t *testing.T) {
			limit := 1000
			if strings.Contains(name, "trace_diff") {
				limit = 1250 // graphs of 501 operations: 1,003 arrows that no cut parts
			}
			tr := testtrace.Read(t, name)
			if len(tr.Events) > 200_000 && os.Getenv("OVERLAY_LONG") == "" {
				t.Skip("reading the output of a large trace as the viewer does takes half a minute: OVERLAY_LONG=1")
			}
			everyEdgeIsAnArrow(t, tr, limit)
		})
	}
}

// everyEdgeIsAnArrow checks one trace. It returns how many edges its path has, and how many arrows end at segments. A
// click may draw limit arrows.
func everyEdgeIsAnArrow(t *testing.T, tr *trace.Trace, limit int) (edges, standIns int) {
	t.Helper()
	p, ov := annotate(t, tr, overlay.Options{})
	for _, e := range p.Edges.List() {
		if e.From != e.To && e.Type != critpath.OperatorEdge {
			edges++
		}
	}
	out, st := write(t, tr, ov)
	after, err := importer.Import(out)
	if err != nil {
		t.Fatal(err)
	}
	compareArrows(t, after, outputPositions(tr, ov), ov, st)
	if leftOut := edges - st.Arrows; leftOut*1000 > 2*edges {
		t.Errorf("%d of %d edges are no arrows", leftOut, edges)
	}
	if n := largestComponent(after); n > limit {
		t.Errorf("a click draws %d arrows", n)
	}
	return edges, st.StandIns
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
