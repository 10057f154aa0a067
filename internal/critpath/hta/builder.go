package hta

import (
	"errors"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// noOwner is an edge that the peer attributes to nobody.
const noOwner = trace.NoEvent

// builder adds edges in the peer's order: the order decides ties of the longest path.
type builder struct {
	g     *Graph
	in    *input
	start []int32 // per row: its start node, -1
	end   []int32
	order []int32 // nodes in the order in which edges first name them
	known []bool  // per node: in order

	edges map[[2]int32]int32 // by their ends
}

func newBuilder(g *Graph) *builder {
	has := g.nodes()
	b := &builder{g: g, in: &g.in, start: none(len(has)), end: none(len(has)), known: make([]bool, len(g.Nodes)), edges: map[[2]int32]int32{}}
	for i, n := range g.Nodes {
		p := b.in.at[n.Event]
		if n.End {
			b.end[p] = int32(i)
		} else {
			b.start[p] = int32(i)
		}
	}
	return b
}

// none is a list of so many places that hold nothing yet.
func none(n int) []int32 { return slices.Repeat([]int32{-1}, n) }

func (b *builder) row(node int32) *row { return &b.in.rows[b.in.at[b.g.Nodes[node].Event]] }

// add inserts an edge, or replaces type and weight of the one that is there (networkx add_edge: the position and
// the peer's attribution map keep the first).
func (b *builder) add(from, to int32, t critpath.EdgeType, zero bool, owner trace.EventID) {
	var w int64
	if !zero {
		w = b.g.Nodes[to].TS - b.g.Nodes[from].TS
	}
	if e, ok := b.edges[[2]int32{from, to}]; ok {
		b.g.Edges[e].Type, b.g.Edges[e].Weight = t, w
		return
	}
	for _, n := range [2]int32{from, to} {
		if !b.known[n] {
			b.known[n] = true
			b.order = append(b.order, n)
		}
	}
	b.edges[[2]int32{from, to}] = int32(len(b.g.Edges))
	b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Type: t, Weight: w, Owner: owner})
}

// ownerOf is the peer's _attribute_edge for an operator edge.
func (b *builder) ownerOf(from, to int32, parent trace.EventID) trace.EventID {
	f, t := b.g.Nodes[from], b.g.Nodes[to]
	switch {
	case !f.End:
		return f.Event
	case t.End:
		return t.Event
	}
	return parent
}

// validate cuts negative weights and refuses what the peer refuses (_validate_graph, default mode).
func (b *builder) validate() error {
	for i := range b.g.Edges {
		e := &b.g.Edges[i]
		e.GraphWeight = e.Weight
		if e.Weight <= -1000 {
			e.GraphWeight = 0
		}
		if e.Type == critpath.SyncDependencyEdge {
			s := b.row(e.From).stream
			if s != -1 && s == b.row(e.To).stream {
				return raises("a wait on its own stream %d (the peer returns False)", s)
			}
		}
	}
	return nil
}

var errCycle = errors.New("hta: the peer fails here: its graph has a cycle (it returns False)")

// longestPath is networkx dag_longest_path: Kahn by generations, ties by insertion order.
func (b *builder) longestPath() error {
	n := len(b.g.Nodes)
	in, out := b.edgesBy(func(e *Edge) int32 { return e.To }), b.edgesBy(func(e *Edge) int32 { return e.From })
	open := make([]int32, n)
	var queue []int32
	for _, v := range b.order {
		if open[v] = int32(len(in(v))); open[v] == 0 {
			queue = append(queue, v)
		}
	}
	dist, pred := make([]int64, n), none(n)
	best, seen := int32(-1), 0
	for ; seen < len(queue); seen++ {
		v := queue[seen]
		dist[v], pred[v] = bestIn(b.g, in(v), dist)
		if best < 0 || dist[v] > dist[best] {
			best = v
		}
		for _, e := range out(v) {
			to := b.g.Edges[e].To
			if open[to]--; open[to] == 0 {
				queue = append(queue, to)
			}
		}
	}
	if seen < len(b.order) {
		return errCycle
	}
	return b.walkBack(best, dist, pred)
}

// edgesBy groups the edges by one of their nodes, in insertion order.
func (b *builder) edgesBy(node func(*Edge) int32) func(node int32) []int32 {
	first := make([]int32, len(b.g.Nodes)+2) // the edges of node v are list[first[v]:first[v+1]], once each has moved the start of its node on
	for i := range b.g.Edges {
		first[node(&b.g.Edges[i])+2]++
	}
	for v := range first[1:] {
		first[v+1] += first[v]
	}
	list := make([]int32, len(b.g.Edges))
	for i := range b.g.Edges {
		at := &first[node(&b.g.Edges[i])+1]
		list[*at] = int32(i)
		*at++
	}
	return func(v int32) []int32 { return list[first[v]:first[v+1]] }
}

// bestIn picks the predecessor edge with the largest distance, the first one on ties; a negative one restarts at 0.
func bestIn(g *Graph, in []int32, dist []int64) (int64, int32) {
	d, p := int64(0), int32(-1)
	for _, e := range in {
		if c := dist[g.Edges[e].From] + g.Edges[e].GraphWeight; p < 0 || c > d {
			d, p = c, e
		}
	}
	if p >= 0 && d < 0 {
		return 0, -1
	}
	return d, p
}

func (b *builder) walkBack(best int32, dist []int64, pred []int32) error {
	if best < 0 || pred[best] < 0 {
		return raises("its critical path has fewer than two nodes (AssertionError)")
	}
	b.g.Weight = dist[best]
	for v := best; ; v = b.g.Edges[pred[v]].From {
		b.g.PathNode = append(b.g.PathNode, v)
		if pred[v] < 0 {
			break
		}
		b.g.Path = append(b.g.Path, pred[v])
	}
	slices.Reverse(b.g.PathNode)
	slices.Reverse(b.g.Path)
	return nil
}
