package critpath_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/nodecheck"
	"overlay/internal/trace"
)

// graphText is the aggregated graph and the paper's path through it, by names and times alone: no positions, no rows.
func graphText(tr *trace.Trace, o cdg.Options) (string, error) {
	g, err := graph.Build(tr, o)
	if err != nil {
		return "", err
	}
	if err := nodecheck.Check(g); err != nil {
		return "", err
	}
	p, err := critpath.CTDA(g)
	if err != nil {
		return "", err
	}
	name := func(id trace.EventID) string {
		if id == trace.NoEvent {
			return "-"
		}
		return tr.Name(id)
	}
	node := func(id nodes.ID) string {
		n := &g.Nodes[id]
		track := &tr.Tracks[g.Lanes[n.Lane].Track]
		return fmt.Sprintf("%s/%s %t %s %d..%d busy %d of %d %t %s %s %s", tr.Str(tr.Procs[track.Proc].PID.Raw), tr.Str(track.TID.Raw), n.GPU, n.Phase, n.Start-g.Window.Start,
			n.End-g.Window.Start, n.Busy, n.Events, n.Sync, name(n.First), name(n.Last), name(n.Launch))
	}
	var lines []string
	for i := range g.Nodes {
		lines = append(lines, "node "+node(nodes.ID(i)))
	}
	for _, e := range g.Edges {
		lines = append(lines, fmt.Sprintf("edge %s: %s -> %s", e.Kind, node(e.From), node(e.To)))
	}
	slices.Sort(lines) // nodes that start together are numbered by rows
	for _, n := range p.Nodes {
		lines = append(lines, "path "+node(n))
	}
	for _, s := range p.Segments.List() {
		lines = append(lines, fmt.Sprintf("segment %d..%d %s %s", s.Start-g.Window.Start, s.End-g.Window.Start, s.Kind, name(s.Event)))
	}
	return strings.Join(lines, "\n"), nil
}

// sameGraph fails unless a shuffled and shifted copy of a trace gives the same graph and path.
func sameGraph(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, tr *trace.Trace, seed uint64) {
	want, err := graphText(tr, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	copied, _, _ := shuffled(tr, rand.New(rand.NewPCG(seed, 2)), 1_000_003)
	got, err := graphText(copied, cdg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("line %d of %d and %d: %q of the original, %q of the copy", i, len(a), len(b), a[i], b[min(i, len(b)-1)])
			}
		}
		t.Fatalf("the copy has %d lines more", len(b)-len(a))
	}
}

func TestOrderOfTheFileDoesNotMatterToNodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		class := rapid.SampledFrom(testtrace.Classes).Draw(t, "class")
		tr := testtrace.Simulated(testtrace.Random(class, rapid.Uint64Range(0, 1000).Draw(t, "program"))).Parse(t)
		if !twins(tr) {
			sameGraph(t, tr, rapid.Uint64().Draw(t, "seed"))
		}
	})
}

// TestMovedWholeMicros: the clock of the device is off, and all times are whole µs until they are moved by what is not.
func TestMovedWholeMicros(t *testing.T) {
	sameGraph(t, testtrace.Simulated(testtrace.Random("edge", 107)).Parse(t), 0)
}

func TestOrderOfRealFilesDoesNotMatterToNodes(t *testing.T) {
	compared := 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		if tr := readTrace(t, file); !twins(tr) && (len(tr.Events) <= 25_000 || !testing.Short()) {
			sameGraph(t, tr, 11)
			compared++
		}
	}
	if compared == 0 {
		t.Error("no trace tells its events apart")
	}
}

func TestProcessorsDoNotMatterToNodes(t *testing.T) {
	tr := simulatedTrace(t, 50_000)
	var first string
	for _, n := range []int{1, 2, 8} {
		old := runtime.GOMAXPROCS(n)
		text, err := graphText(tr, cdg.Options{})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = text
		}
		if text != first {
			t.Fatalf("the graph depends on GOMAXPROCS: another one with %d", n)
		}
	}
}
