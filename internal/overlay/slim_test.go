package overlay_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
)

// TestSlimFixPoint wants the same segments and hotspots from the slim form of a trace as from the whole.
func TestSlimFixPoint(t *testing.T) {
	traces(t, func(t *testing.T, tr *kineto.Trace) {
		g, p, ov := annotate(t, tr, overlay.Options{})
		overlay.Slim(g, p, ov)
		out, st := write(t, tr, ov)
		slim, err := kineto.Parse(out, "slim", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rec := overlay.ReadRecord(slim)
		if rec == nil {
			t.Fatal("no record in the slim trace")
		}
		if rec.Method != "exact" || rec.Delays != g.Delays || rec.Window != g.Window {
			t.Errorf("record %+v, wanted %+v and %+v", rec, g.Window, g.Delays)
		}
		g2, err := cdg.Build(slim, cdg.Options{Recorded: &rec.Recorded})
		if err != nil {
			t.Fatal(err)
		}
		p2, err := critpath.Exact(g2, critpath.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "segments", segmentTexts(tr, p), segmentTexts(slim, p2))
		compare(t, "hotspots", hotspotTexts(g, p), hotspotTexts(g2, p2))

		ov2 := overlay.Annotate(g2.Layout, p2, overlay.Options{})
		out2, _ := write(t, slim, ov2)
		again, err := kineto.Parse(out2, "again", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if overlay.ReadRecord(again) == nil {
			t.Error("the record is lost when a slim trace is drawn on again")
		}
		t.Logf("%d of %d events, %d KB of %d KB", st.Events, len(tr.Events), st.Bytes/1000, len(tr.Src)/1000)
	})
}

func segmentTexts(tr *kineto.Trace, p *critpath.Path) []string {
	var out []string
	for _, s := range p.Segments {
		name := ""
		if s.Owned() {
			name = tr.Name(s.Event)
		}
		out = append(out, fmt.Sprint(s.Start, " ", s.End, " ", s.Kind, " ", s.Evidence, " ", name))
	}
	return out
}

func hotspotTexts(g *cdg.Graph, p *critpath.Path) []string {
	var out []string
	for _, h := range critpath.Hotspots(g, p) {
		h.Event = 0 // positions differ
		out = append(out, fmt.Sprintf("%+v", h))
	}
	return out
}

// compare shows the first difference only: the lists are long.
func compare(t *testing.T, what string, want, got []string) {
	t.Helper()
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			t.Errorf("%s differ from %d on: %s", what, i, cmp.Diff(want[i], got[i]))
			return
		}
	}
	if len(want) != len(got) {
		t.Errorf("%s: %d, wanted %d", what, len(got), len(want))
	}
}
