package slim_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/slim"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// TestSlimFixPoint wants the same segments and hotspots from the slim form of a trace as from the whole.
func TestSlimFixPoint(t *testing.T) {
	testtrace.Subjects(t, func(t *testing.T, tr *trace.Trace) {
		g, p, ok := testtrace.Analyse(t, tr)
		if !ok {
			t.Skip("nothing to analyse")
		}
		ov := overlay.Annotate(tr, g, p, overlay.Options{Slim: true})
		slim.Cut(g, p, ov)
		out, st := write(t, tr, ov)
		cut, err := kineto.Parse(out, "slim", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		rec := slim.ReadRecord(cut)
		if rec == nil {
			t.Fatal("no record in the slim trace")
		}
		if rec.Method != "exact" || rec.Cal != g.Deps.Cal || rec.Window != g.Window {
			t.Errorf("record %+v, wanted %+v and %+v", rec, g.Window, g.Deps.Cal)
		}
		g2, err := cdg.Build(cut, cdg.Options{Recorded: &rec.Recorded})
		if err != nil {
			t.Fatal(err)
		}
		p2, err := critpath.Exact(g2, critpath.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "segments", segmentTexts(tr, p), segmentTexts(cut, p2))
		compare(t, "hotspots", hotspotTexts(g, p), hotspotTexts(g2, p2))

		ov2 := overlay.Annotate(cut, g2, p2, overlay.Options{Attrs: slim.Attrs(&rec.Recorded)})
		out2, _ := write(t, cut, ov2)
		again, err := kineto.Parse(out2, "again", kineto.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if slim.ReadRecord(again) == nil {
			t.Error("the record is lost when a slim trace is drawn on again")
		}
		t.Logf("%d of %d events, %d KB of %d KB", st.Events, len(tr.Events), st.Bytes/1000, len(kineto.TextOf(tr).Src)/1000)
	})
}

func write(t *testing.T, tr *trace.Trace, ov *overlay.Overlay) ([]byte, chromejson.Stats) {
	t.Helper()
	var b bytes.Buffer
	st, err := chromejson.Write(&b, tr, ov, chromejson.Options{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), st
}

func segmentTexts(tr *trace.Trace, p *critpath.Path) []string {
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
