package anonymize_test

import (
	"bytes"
	"cmp"
	"os"
	"slices"
	"testing"

	"overlay/internal/anonymize"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/overlay/chromejson"
	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// samePath analyses the anonymous form of a trace anew and wants the path of the trace itself: its segments, classes,
// owners and resources, and the phases of its events.
func samePath(t *testing.T, g *graph.Graph, p *critpath.Path, g2 *graph.Graph, p2 *critpath.Path) {
	t.Helper()
	tr := g.Trace
	if !slices.Equal(p.Segments.List(), p2.Segments.List()) {
		t.Error("anonymising changes the path")
	}
	var b bytes.Buffer
	if _, err := chromejson.Write(&b, g2.Trace, nil); err != nil {
		t.Fatal(err)
	}
	again := testtrace.Parse(t, b.Bytes())
	g3, p3 := testtrace.Exact(t, again)
	list := p3.Segments.List()
	for i, a := range p.Segments.All() {
		if i >= len(list) || list[i] != *a {
			name := ""
			if a.Event != trace.NoEvent {
				name = tr.Name(a.Event)
			}
			t.Fatalf("segment %d of %d is %+v (%s), in the anonymous form %+v", i, p.Segments.Len(), *a, name, list[min(i, len(list)-1)])
		}
	}
	if p.Segments.Len() != len(list) {
		t.Errorf("%d segments became %d", p.Segments.Len(), len(list))
	}
	changed := 0
	for i := range g.Phases {
		if g.Phases[i] != g3.Phases[i] {
			if changed++; changed <= 3 {
				t.Errorf("phase of %q is %v, of %q %v", tr.Name(trace.EventID(i)), g.Phases[i], again.Name(trace.EventID(i)), g3.Phases[i])
			}
		}
	}
	if changed > 0 {
		t.Errorf("%d of %d phases changed", changed, len(g.Phases))
	}
}

func TestAnonymousPathOfSimulated(t *testing.T) {
	for _, class := range testtrace.Classes {
		for seed := range uint64(cmp.Or(len(os.Getenv("OVERLAY_LONG"))*20, 4)) {
			g, p := testtrace.Exact(t, testtrace.Simulated(testtrace.Random(class, seed)).Parse(t))
			g2, p2, err := anonymize.Graph(g, p)
			if err != nil {
				t.Fatal(err)
			}
			samePath(t, g, p, g2, p2)
		}
	}
}
