package critpath_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/pathcheck"
)

// stepsTrace is three steps of 1,000 µs behind 200 µs of set-up. The kernel of the first runs on for 300 µs of the second.
func stepsTrace() *paperTrace {
	p := newPaperTrace()
	p.op(p.main, "aten::setup", 0, 200)
	p.main.Annotation("load", 0, 200*us)
	for i := range int64(3) {
		t := 200 + 1000*i
		p.main.Annotation(fmt.Sprintf("ProfilerStep#%d", i), t*us, 1000*us)
		p.op(p.main, "aten::mm", t, t+400)
		if i == 0 {
			p.launchOver(t+400, t+410, p.compute, "long", t+420, t+1300)
		} else {
			p.deviceSync(t+10, t+305)
		}
		p.op(p.main, "aten::add", t+500, t+1000)
	}
	p.compute.GPUAnnotation("ProfilerStep#0", 620*us, 880*us) // the shadow of a step is no instance of it
	return p
}

// Each window, the sum of its lines, and what was carried into it.
func TestWindows(t *testing.T) {
	tr := stepsTrace().b.Parse(t)
	for _, c := range []struct {
		name       string
		o          cdg.Options
		start, end int64
		carried    int
		lines      string
	}{
		{"all", cdg.Options{}, 0, 3200, 0, "before 200, ProfilerStep#0 1000, ProfilerStep#1 1000, ProfilerStep#2 1000"},
		{"a step with its tail", cdg.Options{Step: "0"}, 200, 1500, 0, "ProfilerStep#0 1000, ProfilerStep#1 300"},
		{"a step into which work is carried", cdg.Options{Step: "1"}, 1200, 2200, 1, "ProfilerStep#1 1000"},
		{"an instance", cdg.Options{Annotation: "ProfilerStep", Instance: "2"}, 2200, 3200, 0, "ProfilerStep#2 1000"},
		{"a range", cdg.Options{Annotation: "ProfilerStep", Instance: "1:2"}, 1200, 3200, 1, "ProfilerStep#1 1000, ProfilerStep#2 1000"},
		{"an annotation outside the steps", cdg.Options{Annotation: "load"}, 0, 200, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := graph.Build(tr, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if w := g.Window; w.Start != c.start*us || w.End != c.end*us || w.CarriedIn != c.carried {
				t.Fatalf("window [%d, %d], %d carried in, want [%d, %d] µs, %d", w.Start, w.End, w.CarriedIn, c.start, c.end, c.carried)
			}
			exact := testtrace.Path(t, g)
			if err := pathcheck.Check(exact, g); err != nil {
				t.Fatal(err)
			}
			ctda := ctdaPath(t, g)
			for _, p := range []*critpath.Path{exact, ctda} {
				var text []string
				var sum int64
				for _, l := range critpath.StepTable(g.Steps, p) {
					text = append(text, fmt.Sprintf("%s %d", l.Name, (l.End-l.Start)/us))
					for _, ns := range l.Class {
						sum += ns
					}
				}
				if diff := cmp.Diff(c.lines, strings.Join(text, ", ")); diff != "" {
					t.Errorf("%s: lines (-want +got):\n%s", p.Method, diff)
				}
				want := p.Covered
				if p == exact {
					want = (c.end - c.start) * us
				}
				if c.lines != "" && sum != want {
					t.Errorf("%s: the lines hold %d ns of %d", p.Method, sum, want)
				}
			}
		})
	}
}

func ctdaPath(t *testing.T, g *graph.Graph) *critpath.Path {
	t.Helper()
	p, err := critpath.CTDA(g)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkCTDA(g, p); err != nil {
		t.Error(err)
	}
	return p
}

// Work that was launched before the window and still runs in it may own its time, in both methods.
func TestCarriedInWorkOwnsTime(t *testing.T) {
	g, err := graph.Build(stepsTrace().b.Parse(t), cdg.Options{Step: "1"})
	if err != nil {
		t.Fatal(err)
	}
	exact := testtrace.Path(t, g)
	for _, p := range []*critpath.Path{exact, ctdaPath(t, g)} {
		if got := marked(g, p)["long"]; got != 300 {
			t.Errorf("%s: the kernel that was carried in owns %.0f µs, want 300: %v", p.Method, got, marked(g, p))
		}
	}
}

// The error of a window that is not there lists ten names at most, the most frequent first.
func TestNoSuchWindow(t *testing.T) {
	p := newPaperTrace()
	for i := range int64(12) {
		for k := range i + 1 {
			p.main.Annotation(fmt.Sprintf("note%02d", i), (i*100+k)*us, us)
		}
	}
	_, err := graph.Build(p.b.Parse(t), cdg.Options{Annotation: "absent"})
	want := `window: no annotation "absent" in the trace; the most frequent are "note11" (12), "note10" (11), "note09" (10), "note08" (9), ` +
		`"note07" (8), "note06" (7), "note05" (6), "note04" (5), "note03" (4), "note02" (3)`
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	long := testtrace.New()
	long.Thread(1, 1, "python").Annotation(strings.Repeat("long ", 1000), 0, us)
	if _, err = graph.Build(long.Parse(t), cdg.Options{Annotation: "absent"}); err == nil || len(err.Error()) > 300 || !strings.HasSuffix(err.Error(), `…" (1)`) {
		t.Errorf("error %v", err)
	}
	bare := testtrace.New()
	bare.Thread(1, 1, "python").Op("aten::mm", 0, us)
	if _, err = graph.Build(bare.Parse(t), cdg.Options{Step: "3"}); err == nil || err.Error() != "window: no step 3 in the trace, which has none: the profiler names them where prof.step() is called" {
		t.Errorf("error %v", err)
	}
}
