package overlay

import (
	"testing"

	"pgregory.net/rapid"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// flat is a layout over n events without flows of the input.
func flat(n int) *graph.Layout {
	tr := &trace.Trace{Syms: []string{""}, Events: make([]trace.Event, n)}
	for i := range tr.Events {
		tr.Events[i].Track = trace.NoTrack
	}
	return &graph.Layout{Layout: &cdg.Layout{Trace: tr}, Aggregated: &nodes.Aggregated{}}
}

// choose picks arrows of a path with the given edges, on a graph of n events.
func choose(n int, edges []critpath.Edge, flows Flows) []Arrow {
	arrows, _ := chooseArrows(flat(n), nil, &critpath.Path{Edges: edges}, flows)
	return arrows
}

// largest is the largest number of arrows in a connected component, by a search that shares nothing with union-find.
func largest(n int, arrows []Arrow) int {
	next := make([][]int, n)
	for i, a := range arrows {
		next[a.From] = append(next[a.From], i)
		next[a.To] = append(next[a.To], i)
	}
	seen := make([]bool, n)
	best := 0
	for start := range n {
		if seen[start] {
			continue
		}
		ends := 0
		stack := []int{start}
		seen[start] = true
		for len(stack) > 0 {
			x := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			ends += len(next[x])
			for _, i := range next[x] {
				for _, y := range []int{int(arrows[i].From), int(arrows[i].To)} {
					if !seen[y] {
						seen[y] = true
						stack = append(stack, y)
					}
				}
			}
		}
		best = max(best, ends/2)
	}
	return best
}

func chain(from, n int, row bool) []critpath.Edge {
	var out []critpath.Edge
	for i := range n {
		out = append(out, critpath.Edge{From: trace.EventID(from + i), To: trace.EventID(from + i + 1), Type: critpath.DependencyEdge, Row: row})
	}
	return out
}

func TestArrowLimits(t *testing.T) {
	const n = 60_000
	for _, c := range []struct {
		name  string
		all   []critpath.Edge
		flows Flows
		want  int
	}{
		{"a short row stays", chain(0, 1000, true), FlowsCritical, 1000},
		{"a long row goes as a whole", chain(0, 1001, true), FlowsCritical, 0},
		{"what changes rows stays in a long chain", append(chain(0, 5000, true), chain(5000, 9, false)...), FlowsCritical, 9},
		{"what changes rows is cut at the limit", chain(0, 3000, false), FlowsCritical, 2999 - 1},
		{"all", append(chain(0, 5000, true), chain(5000, 9, false)...), FlowsAll, 5009},
		{"none", chain(0, 5, false), FlowsNone, 0},
	} {
		got := choose(n, c.all, c.flows)
		if len(got) != c.want {
			t.Errorf("%s: %d arrows, want %d", c.name, len(got), c.want)
		}
		if l := largest(n, got); c.flows == FlowsCritical && l > maxConnected {
			t.Errorf("%s: a component of %d arrows", c.name, l)
		}
	}
	var pairs []critpath.Edge
	for i := range 25_000 {
		pairs = append(pairs, critpath.Edge{From: trace.EventID(2 * i), To: trace.EventID(2*i + 1), Type: critpath.DependencyEdge, Row: i%2 == 0})
	}
	got := choose(n, pairs, FlowsCritical)
	if len(got) != 12_500 {
		t.Errorf("of 25,000 single arrows %d are drawn: the 12,500 that change rows should be", len(got))
	}
}

func TestArrowsStayWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 3000).Draw(t, "events")
		seed := rapid.IntRange(1, 1<<20).Draw(t, "seed")
		var all []critpath.Edge
		for i := range rapid.IntRange(0, 4000).Draw(t, "edges") {
			seed = seed*1103515245 + 12345
			a, b := (seed>>8)%n, (seed>>20)%n
			if a < 0 {
				a = -a
			}
			if b < 0 {
				b = -b
			}
			if a == b {
				b = (a + 1) % n
			}
			all = append(all, critpath.Edge{From: trace.EventID(a), To: trace.EventID(b), Type: critpath.DependencyEdge, Row: i%3 == 0})
		}
		got := choose(n, all, FlowsCritical)
		if l := largest(n, got); l > maxConnected {
			t.Fatalf("a component of %d arrows", l)
		}
		if len(all) <= maxConnected && len(got) != len(all) {
			t.Fatalf("%d of %d arrows drawn though all fit", len(got), len(all))
		}
	})
}
