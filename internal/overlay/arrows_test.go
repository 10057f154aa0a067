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
	arrows, _ := chooseArrows(flat(n), nil, &critpath.Path{Edges: critpath.EdgesOf(edges)}, flows)
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
		{"a long row is cut once", chain(0, 1001, true), FlowsCritical, 1000},
		{"twice the limit and the arrow that is cut", chain(0, 2001, true), FlowsCritical, 2000},
		{"as few cuts as can be", chain(0, 50_000, true), FlowsCritical, 50_000 - 49},
		{"only edges along the row are cut", append(chain(0, 5000, true), chain(5000, 9, false)...), FlowsCritical, 5009 - 5},
		{"what changes rows is never cut", chain(0, 3000, false), FlowsCritical, 3000},
		{"all", append(chain(0, 5000, true), chain(5000, 9, false)...), FlowsAll, 5009},
		{"none", chain(0, 5, false), FlowsNone, 0},
	} {
		got := choose(n, c.all, c.flows)
		if len(got) != c.want {
			t.Errorf("%s: %d arrows, want %d", c.name, len(got), c.want)
		}
		if l := largest(n, got); c.flows == FlowsCritical && c.all[0].Row && l > maxConnected {
			t.Errorf("%s: a component of %d arrows", c.name, l)
		}
	}
}

// TestArrowsOfLargeBlocks chains blocks that cannot be cut, and are too large for the limit two at a time: rather than
// lose an edge at each of them the limit gives way. Where that does not help it holds again.
func TestArrowsOfLargeBlocks(t *testing.T) {
	for _, c := range []struct{ spokes, limit int }{{300, 1000}, {550, 2*1100 + 300}, {6000, 12001}} {
		var all []critpath.Edge
		n := 0
		for range 60_000 / c.spokes {
			hub := n
			for k := range c.spokes {
				all = append(all, critpath.Edge{From: trace.EventID(hub), To: trace.EventID(hub + k + 1), Type: critpath.DependencyEdge})
			}
			all = append(all, chain(hub+1, c.spokes, true)...) // the last one leads to the next hub
			n += c.spokes + 1
		}
		got := choose(n+1, all, FlowsCritical)
		if left := len(all) - len(got); left*1000 > 2*len(all) {
			t.Errorf("%d spokes: %d of %d edges are left out", c.spokes, left, len(all))
		}
		if l := largest(n+1, got); l > c.limit {
			t.Errorf("%d spokes: a component of %d arrows", c.spokes, l)
		}
	}
}

// TestArrowTotal gives a path more edges than a trace may have arrows: those that change rows stay, then the first.
func TestArrowTotal(t *testing.T) {
	const pairs = maxArrows + 50_000
	var all []critpath.Edge
	for i := range pairs {
		all = append(all, critpath.Edge{From: trace.EventID(2 * i), To: trace.EventID(2*i + 1), Type: critpath.DependencyEdge, Row: i%2 == 0})
	}
	got := choose(2*pairs, all, FlowsCritical)
	along := 0
	for _, a := range got {
		if a.From/2%2 == 0 {
			along++
		}
	}
	if len(got) != maxArrows || along != maxArrows-pairs/2 {
		t.Errorf("%d arrows are drawn, %d of them along rows, want %d and %d", len(got), along, maxArrows, maxArrows-pairs/2)
	}
}

// TestArrowsAreCutAtBorders lets a long row pass borders of steps and of nodes: of all places that need no further cut
// the border of a step is taken, else that of a node.
func TestArrowsAreCutAtBorders(t *testing.T) {
	const n = 1500
	for _, c := range []struct {
		step, node int // the first event behind the border
		want       int // the event behind the cut
	}{
		{600, 800, 600},
		{600, 0, 600},
		{0, 800, 800},
		{1400, 800, 800}, // a cut at this step would leave a piece of more than 1,000
		{498, 501, 501},
	} {
		y := flat(n)
		for i := range y.Trace.Events {
			y.Trace.Events[i].Start = int64(i)
		}
		if c.step > 0 {
			y.Steps = []cdg.Step{{Start: 0}, {Start: int64(c.step)}}
		}
		if c.node > 0 {
			y.NodeOf = make([]nodes.ID, n)
			for i := c.node; i < n; i++ {
				y.NodeOf[i] = 1
			}
		}
		edges := chain(0, n-1, true)
		got, all := chooseArrows(y, nil, &critpath.Path{Edges: critpath.EdgesOf(edges)}, FlowsCritical)
		if all != n-1 || len(got) != n-2 {
			t.Errorf("%+v: %d of %d arrows drawn, want all but one", c, len(got), all)
			continue
		}
		cut := n - 1
		for i := range got {
			if int(got[i].To) != i+1 {
				cut = i + 1
				break
			}
		}
		if cut != c.want {
			t.Errorf("%+v: cut before event %d", c, cut)
		}
	}
}

// TestArrowsStayWithinLimits throws a path about among few events. What is left out must be needed: along a row, and
// too much where it would come back. No component is too large but those that edges across rows make alone, and those
// that close circles.
func TestArrowsStayWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6000).Draw(t, "events")
		across := rapid.IntRange(2, 40).Draw(t, "one edge across rows in")
		far := rapid.IntRange(1, 40).Draw(t, "one jump in")
		seed := uint64(rapid.IntRange(1, 1<<20).Draw(t, "seed"))
		var all []critpath.Edge
		at := 0
		for range rapid.IntRange(0, 8000).Draw(t, "edges") {
			seed = seed*6364136223846793005 + 1442695040888963407
			r := int(seed >> 33)
			to := (at + 1) % n
			if r%far == 0 {
				to = (at + 1 + r/far%(n-1)) % n
			}
			all = append(all, critpath.Edge{From: trace.EventID(at), To: trace.EventID(to), Type: critpath.DependencyEdge, Row: r/7%across != 0})
			at = to
		}
		got := choose(n, all, FlowsCritical)
		if len(all) <= maxConnected && len(got) != len(all) {
			t.Fatalf("%d of %d arrows drawn though all fit", len(got), len(all))
		}
		u := newComponents(n)
		k := 0
		var out []critpath.Edge
		for _, e := range all {
			if k < len(got) && got[k].From == e.From && got[k].To == e.To {
				u.join(int32(e.From), int32(e.To))
				k++
				continue
			}
			out = append(out, e)
		}
		if k != len(got) {
			t.Fatalf("only %d of %d arrows are edges of the path, in its order", k, len(got))
		}
		for _, e := range out {
			if !e.Row {
				t.Fatalf("an edge across rows is left out: %+v", e)
			}
			if u.fits(int32(e.From), int32(e.To), maxConnected) {
				t.Fatalf("%+v is left out for nothing", e)
			}
		}
	})
}
