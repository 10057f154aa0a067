package chromejson_test

import (
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/chrome/importer"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestImportMethods draws the paths of the other methods, with all arrows, and reads them as the viewer does.
func TestImportMethods(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g.Window.End <= g.Window.Start {
			t.Skip("nothing to analyse")
		}
		p, err := critpath.CTDA(g)
		if err != nil {
			t.Fatal(err)
		}
		paths := []*critpath.Path{p}
		if h, err := hta.Find(tr, hta.Options{First: -1, Last: -1}); err == nil {
			paths = append(paths, h.AsPath())
		}
		before := importInput(t, tr)
		for _, p := range paths {
			ov := overlay.Annotate(g.Layout(), p, overlay.Options{Flows: overlay.FlowsAll})
			out, st := write(t, tr, ov)
			after, err := importer.Import(out)
			if err != nil {
				t.Fatal(err)
			}
			for name, n := range after.Errors() {
				if n > before.Errors()[name] {
					t.Errorf("%s: %s: %d, in the input %d", p.Method, name, n, before.Errors()[name])
				}
			}
			position := outputPositions(tr, ov)
			compareSlices(t, before, after, position, ov)
			compareArrows(t, after, position, ov, st)
			for _, s := range ov.Tracks[0].Slices[:min(5, len(ov.Tracks[0].Slices))] {
				t.Logf("%s: %s", p.Method, s.Name)
			}
			t.Logf("%d arrows of %d edges, %d unbindable; %d segments", st.Arrows, p.Edges.Len(), st.Unbindable, ov.Tracks[1].Len())
		}
	})
}
