package critpath_test

import (
	"bytes"
	"reflect"
	"testing"

	"overlay/internal/critpath"
	"overlay/internal/testtrace"
)

// TestHotspotsInParts: however few marks processors sum up in one go, the hotspots are the same, those of a copy of the path
// that nobody has added up too.
func TestHotspotsInParts(t *testing.T) {
	for _, python := range []bool{false, true} {
		var text bytes.Buffer
		if err := testtrace.Large(&text, 20_000, python); err != nil {
			t.Fatal(err)
		}
		tr := testtrace.Parse(t, text.Bytes())
		g, p := testtrace.Exact(t, tr)
		want := critpath.Hotspots(g, p)
		again := &critpath.Path{Method: p.Method, Window: p.Window, Segments: p.Segments, Edges: p.Edges, Marks: p.Marks, Duration: p.Duration}
		defer critpath.SmallHotMarks(10)()
		for _, x := range []*critpath.Path{p, again} {
			if got := critpath.Hotspots(g, x); !reflect.DeepEqual(got, want) {
				t.Errorf("python %v: %v, want %v", python, got, want)
			}
		}
		if p.Marks.Len() < 2*max(10, len(tr.Syms)) {
			t.Errorf("%d marks and %d names are one part", p.Marks.Len(), len(tr.Syms))
		}
	}
}
