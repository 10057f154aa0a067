package critpath

import (
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// handNode is a node of a graph made by hand. Times have no unit here.
type handNode struct {
	name       string // GPU nodes start with G
	start, end int64
	launch     int64 // end of the first launch call, 0 for none
	sync       bool
}

// handGraph makes a graph of nodes and of edges "A>B".
func handGraph(drawn []handNode, edges string) (*graph.Graph, []string) {
	tr := &trace.Trace{Syms: []string{""}}
	g := &graph.Graph{Graph: &cdg.Graph{Layout: &cdg.Layout{Trace: tr, Window: cdg.Window{Start: 0, End: 1000}}}, Aggregated: &nodes.Aggregated{}}
	index := map[string]nodes.ID{}
	var names []string
	event := func(start, end int64) trace.EventID {
		e := trace.Event{Start: start}
		tr.SetDur(&e, end-start)
		tr.Events = append(tr.Events, e)
		return trace.EventID(len(tr.Events) - 1)
	}
	for i, n := range drawn {
		node := nodes.Node{GPU: n.name[0] == 'G', Start: n.start, End: n.end, Sync: n.sync, Launch: trace.NoEvent}
		node.First = event(n.start, n.end)
		node.Last = node.First
		if n.launch != 0 {
			node.Launch = event(n.launch-1, n.launch)
		}
		g.Nodes = append(g.Nodes, node)
		index[n.name] = nodes.ID(i)
		names = append(names, n.name)
	}
	for to := range drawn { // edges are sorted by target
		for _, e := range strings.Fields(edges) {
			from, target, _ := strings.Cut(e, ">")
			if index[target] == nodes.ID(to) {
				g.Edges = append(g.Edges, nodes.Edge{From: index[from], To: index[target]})
			}
		}
	}
	return g, names
}

// TestAlgorithm1 holds each decision of the paper's Algorithm 1 by the smallest graph that depends on it.
func TestAlgorithm1(t *testing.T) {
	tests := []struct {
		what  string
		nodes []handNode
		edges string
		want  string
	}{
		{"line 9: a GPU node that ends with the last CPU node does not start the walk",
			[]handNode{{name: "C", start: 0, end: 50, launch: 10}, {name: "G", start: 12, end: 50}}, "C>G", "C"},
		{"line 9: one that ends later does",
			[]handNode{{name: "C", start: 0, end: 50, launch: 10}, {name: "G", start: 12, end: 51}}, "C>G", "C G"},
		{"line 20: a node that begins with a synchronisation goes to the GPU, though the CPU ends later",
			[]handNode{{name: "C1", start: 0, end: 40, launch: 10}, {name: "G1", start: 12, end: 39}, {name: "C2", start: 40, end: 90, sync: true}},
			"C1>G1 C1>C2 G1>C2", "C1 G1 C2"},
		{"line 21: of several GPU nodes to the one that ends last",
			[]handNode{{name: "C1", start: 0, end: 40, launch: 10}, {name: "G1", start: 12, end: 30}, {name: "G2", start: 12, end: 60}, {name: "C2", start: 40, end: 90, sync: true}},
			"C1>G1 C1>G2 C1>C2 G1>C2 G2>C2", "C1 G2 C2"},
		{"line 20: a synchronisation without a GPU predecessor goes along the CPU",
			[]handNode{{name: "C1", start: 0, end: 40}, {name: "C2", start: 40, end: 90, sync: true}}, "C1>C2", "C1 C2"},
		{"line 23: without a synchronisation a GPU predecessor does not count",
			[]handNode{{name: "C1", start: 0, end: 40, launch: 10}, {name: "G1", start: 12, end: 45}, {name: "C2", start: 40, end: 90}},
			"C1>G1 C1>C2 G1>C2", "C1 C2"},
		{"line 23: a CPU node with GPU predecessors only goes there",
			[]handNode{{name: "G1", start: 12, end: 45}, {name: "C2", start: 45, end: 90}}, "G1>C2", "G1 C2"},
		{"line 33: a CPU node counts up to its first launch, so the stream bound this GPU node",
			[]handNode{{name: "C1", start: 0, end: 10, launch: 5}, {name: "C2", start: 10, end: 70, launch: 20}, {name: "G1", start: 6, end: 50}, {name: "G2", start: 50, end: 95}},
			"C1>C2 C1>G1 C2>G2 G1>G2", "C1 G1 G2"},
		{"line 38: a launch that ended after the operation before bound this GPU node",
			[]handNode{{name: "C1", start: 0, end: 10, launch: 5}, {name: "C2", start: 10, end: 70, launch: 55}, {name: "G1", start: 6, end: 50}, {name: "G2", start: 56, end: 95}},
			"C1>C2 C1>G1 C2>G2 G1>G2", "C1 C2 G2"},
		{"line 38: a tie goes to the GPU",
			[]handNode{{name: "C1", start: 0, end: 10, launch: 5}, {name: "C2", start: 10, end: 70, launch: 50}, {name: "G1", start: 6, end: 50}, {name: "G2", start: 51, end: 95}},
			"C1>C2 C1>G1 C2>G2 G1>G2", "C1 G1 G2"},
		{"Figure 6: the longest path is A B D, but D waited for C, which ended last",
			[]handNode{{name: "GA", start: 0, end: 10}, {name: "GB", start: 10, end: 50}, {name: "GC", start: 35, end: 60}, {name: "GD", start: 60, end: 80}},
			"GA>GB GA>GC GB>GD GC>GD", "GA GC GD"},
	}
	for _, c := range tests {
		g, names := handGraph(c.nodes, c.edges)
		w := &ctda{g: g, tr: g.Trace, quality: map[string]int{}}
		w.invert()
		w.walk(w.startNode())
		var got []string
		for _, n := range w.path {
			got = append(got, names[n])
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: the path is %s, want %s", c.what, s, c.want)
		}
	}
}

// TestOnlyGPUPredecessors counts what the paper leaves open.
func TestOnlyGPUPredecessors(t *testing.T) {
	g, _ := handGraph([]handNode{{name: "G1", start: 12, end: 45}, {name: "C2", start: 45, end: 90}}, "G1>C2")
	w := &ctda{g: g, tr: g.Trace, quality: map[string]int{}}
	w.invert()
	w.walk(w.startNode())
	if w.quality["ctda_only_gpu_predecessors"] != 1 {
		t.Errorf("quality %v", w.quality)
	}
}
