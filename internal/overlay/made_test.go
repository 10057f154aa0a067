package overlay_test

import (
	"testing"

	"overlay/internal/analyses"
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestAnnotateMade holds what must be true of every drawing: marks give the path's own time, the segments on the row
// tile the window, rows stay in order, and arrows join events that are kept.
func TestAnnotateMade(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		g, exact, ok := testtrace.Analyse(t, tr)
		if !ok {
			t.Skip("nothing to analyse")
		}
		ctda, err := critpath.CTDA(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*critpath.Path{exact, ctda} {
			for _, flows := range []overlay.Flows{overlay.FlowsCritical, overlay.FlowsAll, overlay.FlowsNone} {
				rows := analyses.Run(g, p, analyses.Names, analyses.Options{}).Rows
				checkDrawing(t, tr, p, flows, overlay.Annotate(g.Layout(), p, overlay.Options{Flows: flows, Rows: rows, Version: "1"}))
			}
		}
	})
}

func checkDrawing(t *testing.T, tr *trace.Trace, p *critpath.Path, flows overlay.Flows, ov *overlay.Drawing) {
	t.Helper()
	kept := func(id trace.EventID) bool { return ov.Keep == nil || ov.Keep[id] }
	var marked, want int64
	for i := range tr.Events {
		if m, ok := ov.Marks.Of(trace.EventID(i)); ok {
			marked += m.NS
			if m.Critical() && !kept(m.Event) {
				t.Errorf("%s: event %d is marked and left out", p.Method, m.Event)
			}
		}
	}
	for _, m := range p.Marks.All() {
		want += m.NS
	}
	if marked != want {
		t.Errorf("%s: marks hold %d ns, those of the path %d", p.Method, marked, want)
	}
	slices := 0
	for _, track := range ov.Tracks {
		last := int64(-1 << 63)
		for k := range track.Len() {
			start, dur := track.Span(k)
			if start < last || dur < 0 {
				t.Fatalf("%s: slice %d of %q is [%d, +%d] after %d", p.Method, k, track.Name, start, dur, last)
			}
			last = start
			slices++
		}
		if track.Name == "Path segments" && track.Len() != p.Segments.Len() {
			t.Errorf("%s: %d slices for %d segments", p.Method, track.Len(), p.Segments.Len())
		}
	}
	if slices == 0 {
		t.Errorf("%s: nothing is drawn", p.Method)
	}
	if flows == overlay.FlowsNone && len(ov.Arrows) > 0 {
		t.Errorf("%s: %d arrows, none was wanted", p.Method, len(ov.Arrows))
	}
	for _, a := range ov.Arrows {
		if !kept(a.From) || !kept(a.To) {
			t.Errorf("%s: arrow %+v of an event that is left out", p.Method, a)
		}
	}
}
