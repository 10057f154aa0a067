package critpath_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/pathcheck"
	"overlay/internal/trace"
)

var traces sync.Map // file name to *kineto.Trace: several tests read the same files

func readTrace(t *testing.T, file string) *trace.Trace {
	if tr, ok := traces.Load(file); ok {
		return tr.(*trace.Trace)
	}
	tr := testtrace.Read(t, file)
	traces.Store(file, tr)
	return tr
}

// A story is what a person who reads the trace finds, in shares of the window.
var stories = []struct {
	file  string
	class critpath.Class
	least float64
}{
	{"kineto__tb_plugin__samples__resnet50_num_workers_0", critpath.ClassCPU, 0.8},
	{"HTA__nccl_parser_config__nccl_data", critpath.ClassCPU, 0.85},
	{"HTA__trace_diff__test", critpath.ClassCompute, 0.5},
	{"TraceLens__mi300__resnet", critpath.ClassComm, 0.75},
	{"TraceLens__h100__Qwen", critpath.ClassCompute, 0.8},
	{"SAF__amg_example__asdf_True", critpath.ClassCompute, 0.45},
}

// TestExactClasses: the walk that keeps classes alone gives the classes of the path.
func TestExactClasses(t *testing.T) {
	for _, file := range append(corpus.Find(t, "*.json.gz"), corpus.Demo(t)) {
		g, p := testtrace.Exact(t, readTrace(t, file))
		c, err := critpath.ExactClasses(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		from, to := p.Window.Start, p.Window.End
		if got, want := c.Strip(from, to), critpath.NewClassPieces(p).Strip(from, to); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func TestRealTraces(t *testing.T) {
	explained, total := 0, 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		tr := readTrace(t, file)
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p, err := critpath.Exact(g)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := pathcheck.Check(p, g); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := p.Quality["walk_gave_up"]; n > 0 {
			t.Errorf("%s: the walk stood still", name)
		}
		sums := critpath.Breakdown(p)
		window := float64(p.Window.End - p.Window.Start)
		share := func(c critpath.Class) float64 { return float64(sums.Class[c]) / window }
		unknown := share(critpath.ClassUnexplained) + share(critpath.ClassUntraced)
		total++
		if unknown <= 0.1 {
			explained++
		}
		t.Logf("%-50.50s %9.3f ms %-13s cpu %5.1f compute %5.1f comm %5.1f copy %5.1f launch %5.1f unknown %5.1f %%", name, window/1e6,
			critpath.BoundBy(&sums.Class), 100*share(critpath.ClassCPU), 100*share(critpath.ClassCompute), 100*share(critpath.ClassComm),
			100*share(critpath.ClassCopy), 100*share(critpath.ClassLaunch), 100*unknown)
		for _, s := range stories {
			if strings.HasPrefix(name, s.file) && (critpath.BoundBy(&sums.Class) != s.class || share(s.class) < s.least) {
				t.Errorf("%s: bound by %s, %s is %.3f, want at least %.3f", name, critpath.BoundBy(&sums.Class), s.class, share(s.class), s.least)
			}
		}
		checkSums(t, name, g, p, &sums)
	}
	if explained*28 < total*22 {
		t.Errorf("%d of %d traces have at most 10 %% unexplained or untraced", explained, total)
	}
}

// checkSums verifies that everything that is derived from the segments adds up.
func checkSums(t *testing.T, name string, g *graph.Graph, p *critpath.Path, sums *critpath.Totals) {
	window := p.Window.End - p.Window.Start
	total := func(ns []int64) (s int64) {
		for _, n := range ns {
			s += n
		}
		return s
	}
	var resource int64
	for _, r := range sums.Resource {
		resource += r.NS
	}
	if c, k, e := total(sums.Class[:]), total(sums.Kind[:]), total(sums.Evidence[:]); c != window || k != window || e != window || resource != window {
		t.Errorf("%s: window %d, by class %d, kind %d, evidence %d, resource %d", name, window, c, k, e, resource)
	}
	var hot int64
	for _, h := range critpath.Hotspots(g, p) {
		hot += h.NS
	}
	if hot != p.Covered {
		t.Errorf("%s: hotspots sum to %d, covered is %d", name, hot, p.Covered)
	}
	if lines := critpath.StepTable(g.Steps, p); lines != nil {
		at := p.Window.Start
		for _, l := range lines {
			if l.Start != at || total(l.Class[:]) != l.End-l.Start {
				t.Errorf("%s: step %s [%d, %d] holds %d, after %d", name, l.Name, l.Start, l.End, total(l.Class[:]), at)
			}
			at = l.End
		}
		if at != p.Window.End {
			t.Errorf("%s: steps end at %d, the window at %d", name, at, p.Window.End)
		}
	}
}

// The window of every step of the real traces tiles too, and lies in the step plus its GPU tail.
func TestRealSteps(t *testing.T) {
	windows := 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		tr := readTrace(t, file)
		name := filepath.Base(file)
		for _, step := range cdg.FindSteps(tr) {
			g, err := graph.Build(tr, cdg.Options{Step: step.Name})
			if err != nil {
				t.Errorf("%s %s: %v", name, step.Name, err)
				continue
			}
			p, err := critpath.Exact(g)
			if err == nil {
				err = pathcheck.Check(p, g)
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, step.Name, err)
				continue
			}
			sums := critpath.Breakdown(p)
			checkSums(t, name, g, p, &sums)
			if g.Window.Start != step.Start {
				t.Errorf("%s %s: the window starts at %d, the step at %d", name, step.Name, g.Window.Start, step.Start)
			}
			windows++
		}
	}
	if windows == 0 {
		t.Error("no trace has steps")
	}
	t.Logf("%d step windows", windows)
}
