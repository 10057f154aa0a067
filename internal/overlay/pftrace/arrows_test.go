package pftrace

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
)

// TestEveryCriticalEdgeIsAnArrow reads outputs back as the viewer does: of 1,000 edges of the path at least 998 are
// arrows, none that changes the row is missing, and no click draws more than 1,000 arrows, the input's among them, unless the
// input ties more than that together.
func TestEveryCriticalEdgeIsAnArrow(t *testing.T) {
	for _, m := range testtrace.Made(t) {
		t.Run(m.Name, func(t *testing.T) { everyEdgeIsAnArrow(t, m.Trace, 1000) })
	}
	t.Run("stream", func(t *testing.T) {
		if edges := everyEdgeIsAnArrow(t, testtrace.BusyStream(1, 100).Parse(t), 1000); edges < 5000 {
			t.Errorf("only %d edges: too few to be cut", edges)
		}
	})
	t.Run("graphs", func(t *testing.T) { // one launch is a block of twice as many arrows: they leave no choice
		if edges := everyEdgeIsAnArrow(t, testtrace.BusyStream(700, 100).Parse(t), 2500); edges < 5000 {
			t.Errorf("only %d edges: too few to be cut", edges)
		}
	})
	for _, name := range corpus.Find(t, "*.json.gz") {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".json.gz"), func(t *testing.T) {
			limit := 1000
			if strings.Contains(name, "trace_diff") {
				limit = 1250 // graphs of 501 operations: 1,003 arrows that no cut parts, and one a thousandth more than may be left out
			}
			everyEdgeIsAnArrow(t, testtrace.Read(t, name), limit)
		})
	}
}

// everyEdgeIsAnArrow checks one trace and returns how many edges its path has. A click may draw limit arrows.
func everyEdgeIsAnArrow(t *testing.T, tr *trace.Trace, limit int) (edges int) {
	t.Helper()
	g, p, ok := testtrace.Analyse(t, tr)
	if !ok {
		t.Skip("nothing to analyse")
	}
	across := 0 // edges that change the row
	for _, e := range p.Edges.List() {
		if e.From == e.To || e.Type == critpath.OperatorEdge {
			continue
		}
		edges++
		if !e.Row {
			across++
		}
	}
	drawing := overlay.Annotate(g.Layout(), p, overlay.Options{})
	var b bytes.Buffer
	st, err := Write(&b, tr, drawing)
	if err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	leftOut := edges - st.Arrows
	if leftOut*1000 > 2*edges {
		t.Errorf("%d of %d edges are no arrows", leftOut, edges)
	}
	if drawing.LeftOut != leftOut {
		t.Errorf("%d edges are no arrows, the drawing says %d", leftOut, drawing.LeftOut)
	}
	for _, a := range drawing.Arrows {
		if tr.Events[a.From].Track != tr.Events[a.To].Track {
			across--
		}
	}
	if across != 0 {
		t.Errorf("%d edges that change the row are no arrows", across)
	}
	if len(im.Flows) != st.Flows+st.Arrows {
		t.Errorf("%d arrows of the input and %d of the path are written, %d are read", st.Flows, st.Arrows, len(im.Flows))
	}
	if n := largestComponent(im); n > limit {
		t.Errorf("a click draws %d arrows", n)
	}
	return edges
}

// largestComponent is the number of arrows that a click on one slice draws at most.
func largestComponent(im *viewer.Imported) int {
	at := make([][]int32, len(im.Slices)) // arrows of each slice
	for i, f := range im.Flows {
		at[f.From] = append(at[f.From], int32(i))
		at[f.To] = append(at[f.To], int32(i))
	}
	seen := make([]bool, len(im.Slices))
	most := 0
	for start := range im.Slices {
		if seen[start] {
			continue
		}
		seen[start] = true
		ends := 0
		for todo := []int32{int32(start)}; len(todo) > 0; {
			slice := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			ends += len(at[slice])
			for _, i := range at[slice] {
				for _, next := range []int32{im.Flows[i].From, im.Flows[i].To} {
					if !seen[next] {
						seen[next] = true
						todo = append(todo, next)
					}
				}
			}
		}
		most = max(most, ends/2)
	}
	return most
}
