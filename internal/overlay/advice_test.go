package overlay_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"overlay/internal/advise"
	"overlay/internal/overlay"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/overlay/pftrace"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/importer"
	"overlay/internal/testtrace/viewer"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// planted is the drawing of a simulated process with a cause in it, with the advice on it.
func planted(t *testing.T, cause string, slim bool) (*trace.Trace, *advise.Advice, *overlay.Drawing) {
	t.Helper()
	tr := testtrace.Simulated(testtrace.Plant(cause, 1).With).Parse(t)
	g, p, _ := testtrace.Analyse(t, tr)
	a := advise.Find(g, p, func() *whatif.Model { return whatif.New(g) })
	return tr, a, overlay.Annotate(g.Layout(), p, overlay.Options{Advice: a, Slim: slim})
}

// adviceRows are the group of the advice and the rows below it.
func adviceRows(d *overlay.Drawing) (group *overlay.Track, rows []overlay.Track) {
	at := slices.IndexFunc(d.Tracks, func(t overlay.Track) bool { return t.Name == "Advice" })
	if at < 0 {
		return nil, nil
	}
	for _, t := range d.Tracks {
		if t.Parent == at {
			rows = append(rows, t)
		}
	}
	return &d.Tracks[at], rows
}

// TestAdviceRows: each finding that has places has a row named by its rule and its gain, with a slice over each place
// that says what to do and which event it is. The group says what everything together gains. Nothing of it is a mark.
func TestAdviceRows(t *testing.T) {
	for _, cause := range testtrace.Causes {
		tr, a, d := planted(t, cause, false)
		group, rows := adviceRows(d)
		if cause == "cold-start" { // it is no gain, so the group has nothing to sum up
			if group == nil || len(group.Slices) != 0 {
				t.Errorf("%s: group %+v", cause, group)
			}
		} else if group == nil || group.Parent != 0 || len(group.Slices) != 1 || !strings.Contains(group.Slices[0].Name, "would remain: "+cause+" ") {
			t.Fatalf("%s: group %+v", cause, group)
		}
		var want []string
		for i := range a.Findings {
			if f := &a.Findings[i]; f.Total > 0 {
				want = append(want, f.ID)
			}
		}
		var got []string
		for _, row := range rows {
			id, gain, _ := strings.Cut(row.Name, " ")
			got = append(got, id)
			if row.Category != "critical_path_analysis" || len(row.Slices) == 0 {
				t.Errorf("%s: row %+v", cause, row)
			}
			if id == cause && !strings.HasSuffix(gain, " %") {
				t.Errorf("%s: the row does not say what it gains: %q", cause, row.Name)
			}
			for _, s := range row.Slices {
				args := map[string]overlay.Arg{}
				for _, x := range s.Args {
					if overlay.IsMark(x.Key) {
						t.Errorf("%s: %q is a mark", cause, x.Key)
					}
					args[x.Key] = x
				}
				e := &tr.Events[args["event"].Int]
				if args["advice_id"].Str != id || e.Start != s.Start || max(tr.Dur(e), 1) != s.Dur || s.Name == "" {
					t.Fatalf("%s: slice %+v is not event %+v", cause, s, e)
				}
			}
		}
		if !slices.Equal(got, want) || !slices.Contains(got, cause) {
			t.Errorf("%s: rows %v, findings with places %v", cause, got, want)
		}
	}
}

// TestAdviceNothing: where nothing was found, or nobody looked, nothing is drawn. A slim trace names no positions.
func TestAdviceNothing(t *testing.T) {
	if _, a, d := planted(t, "", false); len(a.Findings) == 0 {
		if group, _ := adviceRows(d); group != nil {
			t.Errorf("rows without findings: %+v", group)
		}
	} else {
		t.Errorf("a balanced process has findings: %+v", a.Findings)
	}
	_, _, d := planted(t, "zero-grad", true)
	_, rows := adviceRows(d)
	if len(rows) == 0 {
		t.Fatal("no rows in a slim trace")
	}
	for _, row := range rows {
		for _, s := range row.Slices {
			if slices.ContainsFunc(s.Args, func(a overlay.Arg) bool { return a.Key == "event" }) {
				t.Fatalf("a slim trace names a position: %+v", s)
			}
		}
	}
}

// TestAdviceWritten: both formats show the rows, and a second run takes them out again.
func TestAdviceWritten(t *testing.T) {
	tr, _, d := planted(t, "data-no-workers", false)
	_, rows := adviceRows(d)
	want := 1 // that of the group
	for _, r := range rows {
		want += len(r.Slices)
	}
	var pf, js bytes.Buffer
	if _, err := pftrace.Write(&pf, tr, d); err != nil {
		t.Fatal(err)
	}
	im, err := viewer.Parse(pf.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range im.Slices {
		if s.Category == "critical_path_analysis" {
			n++
		}
	}
	if n != want || len(im.Problems) > 0 {
		t.Errorf("Perfetto: %d slices of %d, problems %v", n, want, im.Problems)
	}
	if _, err := chromejson.Write(&js, tr, d); err != nil {
		t.Fatal(err)
	}
	after, err := importer.Import(js.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	n = 0
	for _, s := range after.Slices {
		if s.Category == "critical_path_analysis" {
			n++
			if s.Spilled {
				t.Errorf("%s overlaps another", s.Name)
			}
		}
	}
	if n != want {
		t.Errorf("Chrome: %d slices of %d", n, want)
	}
	again := testtrace.Parse(t, js.Bytes())
	g, p, _ := testtrace.Analyse(t, again)
	d2 := overlay.Annotate(g.Layout(), p, overlay.Options{})
	for i := range again.Events {
		if again.Str(trace.Sym(again.Events[i].Cat)) == "critical_path_analysis" && d2.Keep[i] {
			t.Fatal("a second run keeps the rows of the first")
		}
	}
}
