package critpath_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/testtrace/tracecheck"
	"overlay/internal/trace"
)

// cuspyForm is a way in which a trace can come from the Cuspy backend.
type cuspyForm struct {
	name string
	o    testtrace.CuspyOptions
}

var cuspyForms = []cuspyForm{
	{"on lanes", testtrace.CuspyOptions{Lanes: true}},
	{"no kinds", testtrace.CuspyOptions{NoKinds: true}},
	{"on streams", testtrace.CuspyOptions{}},
}

// sameClasses wants from a trace in Cuspy's forms the classes of the original, within a thousandth of the window.
func sameClasses(t *testing.T, src []byte, forms []cuspyForm) {
	t.Helper()
	classes := func(src []byte) (by [critpath.NumClasses]int64, window int64, tr *trace.Trace) {
		tr = testtrace.Parse(t, src)
		if err := tracecheck.Check(tr); err != nil {
			t.Fatal(err)
		}
		g := testtrace.Graph(t, tr)
		if g.Window.End <= g.Window.Start {
			return by, 0, tr // nothing to analyse in either form
		}
		p := testtrace.Path(t, g)
		if err := pathcheck.Check(p, g); err != nil {
			t.Fatal(err)
		}
		return critpath.Breakdown(p).Class, p.Window.End - p.Window.Start, tr
	}
	want, window, original := classes(src)
	for _, form := range forms {
		rewritten, err := testtrace.Cuspy(src, form.o)
		if err != nil {
			t.Fatal(err)
		}
		got, w, tr := classes(rewritten)
		if w != window {
			t.Errorf("%s: a window of %d ns, was %d", form.name, w, window)
			continue
		}
		for c := range want {
			if math.Abs(float64(got[c]-want[c])) > float64(window)/1000 {
				t.Errorf("%s: %s %.2f %% of the window, was %.2f %%", form.name, critpath.Class(c), 100*float64(got[c])/float64(window), 100*float64(want[c])/float64(window))
			}
		}
		for i := range original.Events {
			e := &original.Events[i]
			if e.Kind != trace.Memcpy && e.Kind != trace.Memset || e.Ph != 'X' {
				continue
			}
			id := trace.EventID(i)
			if written := tr.WrittenName(id); original.Name(id) != written && written != "Memcpy" && written != "Memset" {
				t.Errorf("%s: event %d is written %q", form.name, i, written)
			} else if !form.o.NoKinds && tr.Name(id) != original.Name(id) {
				t.Errorf("%s: event %d is %q, was %q", form.name, i, tr.Name(id), original.Name(id))
			}
		}
	}
}

// TestCuspyDemo rewrites the demo trace, whose copies block its main thread.
func TestCuspyDemo(t *testing.T) {
	sameClasses(t, corpus.Text(t, corpus.Demo(t)), cuspyForms)
}

// TestCuspySimulated rewrites simulated programs of every class.
func TestCuspySimulated(t *testing.T) {
	for _, class := range testtrace.Classes {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(class, seed), func(t *testing.T) {
				var r testtrace.Run
				r.Simulate(testtrace.Random(class, seed))
				b, _ := r.Build()
				forms := cuspyForms
				if class == "lost" { // of a copy whose call is lost only the kinds of memory say that it held its op
					forms = []cuspyForm{forms[0], forms[2]}
				}
				sameClasses(t, b.JSON(), forms)
			})
		}
	}
}

// TestCuspyCorpus rewrites the real traces. Those that are no JSON are mended first, as the writer does it.
func TestCuspyCorpus(t *testing.T) {
	for _, file := range corpus.Files(t, "*.json.gz") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src := corpus.Text(t, file)
			if !json.Valid(src) {
				tr := testtrace.Parse(t, src)
				var b bytes.Buffer
				if _, err := chromejson.Write(&b, tr, nil); err != nil {
					t.Fatal(err)
				}
				src = b.Bytes()
			}
			sameClasses(t, src, cuspyForms[:2]) // these are large
		})
	}
}
