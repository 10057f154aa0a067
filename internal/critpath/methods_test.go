package critpath_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/graph"
	"overlay/internal/testtrace/corpus"
)

// topNames are the names of the first 20 hotspots.
func topNames(g *graph.Graph, p *critpath.Path) []string {
	var names []string
	for _, h := range critpath.Hotspots(g, p) {
		if len(names) < 20 && !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

// agreement compares two rankings: the share of names that both have, and the length of the longest common
// subsequence, both over the longer list.
func agreement(a, b []string) (same, order float64) {
	n := float64(max(len(a), len(b)))
	if n == 0 {
		return 1, 1
	}
	for _, name := range a {
		if slices.Contains(b, name) {
			same++
		}
	}
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			up := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diagonal = up
		}
	}
	return same / n, float64(row[len(b)]) / n
}

func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		same, order float64
	}{{"a b c d", "a b c d", 1, 1}, {"a b c d", "d c b a", 1, 0.25}, {"a b c d", "b a d c", 1, 0.5}, {"a b c d", "a x b", 0.5, 0.5}, {"a", "b", 0, 0}, {"", "", 1, 1}} {
		if same, order := agreement(strings.Fields(c.a), strings.Fields(c.b)); same != c.same || order != c.order {
			t.Errorf("%q and %q: %.2f and %.2f, want %.2f and %.2f", c.a, c.b, same, order, c.same, c.order)
		}
	}
}

// trains reports whether a trace holds a backward pass.
func trains(g *graph.Graph) bool { return slices.Contains(g.Phases, phases.Backward) }

// TestMethodsOfTrainingTraces logs the table of docs/methods.md. The peer keeps its last step here, which it drops unless
// told: otherwise the lists would differ by the window.
func TestMethodsOfTrainingTraces(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "| trace | events | owned, exact | CPCR, ctda | nodes | edges | on path | exact/ctda | exact/hta | ctda/hta | window of hta |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	lines := 0
	for _, file := range corpus.Files(t, "*.json.gz") {
		tr := readTrace(t, file)
		name := strings.TrimSuffix(filepath.Base(file), ".json.gz")
		g, err := graph.Build(tr, cdg.Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !trains(g) {
			continue
		}
		exact, err := critpath.Exact(g)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		ctda, err := critpath.CTDA(g)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		window := g.Window.End - g.Window.Start
		if exact.Duration != window || ctda.Covered > window {
			t.Errorf("%s: window %d, tiling %d, ctda covers %d", name, window, exact.Duration, ctda.Covered)
		}
		first := [][]string{topNames(g, exact), topNames(g, ctda), nil}
		peerWindow := "-"
		if found, err := hta.Find(tr, hta.Options{First: -1, Last: -1, KeepLastStep: true}); err == nil {
			peer := found.AsPath()
			first[2] = topNames(g, peer)
			peerWindow = fmt.Sprintf("%.2f", float64(peer.Window.End-peer.Window.Start)/float64(window))
		}
		cell := func(a, b []string) string {
			if a == nil || b == nil {
				return "-"
			}
			same, order := agreement(a, b)
			return fmt.Sprintf("%.2f, %.2f", same, order)
		}
		lines++
		fmt.Fprintf(&table, "| %.40s | %d | %.3f | %.3f | %d | %d | %d | %s | %s | %s | %s |\n", name, len(tr.Events), float64(exact.Covered)/float64(window),
			ctda.CPCR(), len(g.Nodes), len(g.Edges), len(ctda.Nodes), cell(first[0], first[1]), cell(first[0], first[2]), cell(first[1], first[2]), peerWindow)
	}
	if lines == 0 {
		t.Error("no trace of the corpus trains")
	}
	t.Logf("\n%s", table.String())
}
