package hta

import (
	"errors"

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
	out   []int32 // per node: its first out edge, -1; the rest through next
	last  []int32 // per node: its last out edge
	next  []int32 // per edge: the next out edge of the same node

	degree []int32            // per node: its out edges
	far    map[[2]int32]int32 // edges of nodes with many, by their ends
}

func newBuilder(g *Graph) *builder {
	has := g.nodes()
	b := &builder{g: g, in: &g.in}
	b.start, b.end = fill(len(has), -1), fill(len(has), -1)
	for i, n := range g.Nodes {
		p := b.in.at[n.Event]
		if n.End {
			b.end[p] = int32(i)
		} else {
			b.start[p] = int32(i)
		}
	}
	b.known = make([]bool, len(g.Nodes))
	b.out, b.last = fill(len(g.Nodes), -1), fill(len(g.Nodes), -1)
	b.degree, b.far = make([]int32, len(g.Nodes)), map[[2]int32]int32{}
	return b
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func (b *builder) row(node int32) *row { return &b.in.rows[b.in.at[b.g.Nodes[node].Event]] }

// add inserts an edge, or replaces type and weight of the one that is there (networkx add_edge: the position and
// the peer's attribution map keep the first).
func (b *builder) add(from, to int32, t EdgeType, zero bool, owner trace.EventID) {
	var w int64
	if t != Dependency && t != SyncDependency && !zero {
		w = b.g.Nodes[to].TS - b.g.Nodes[from].TS
	}
	if e := b.find(from, to); e >= 0 {
		b.g.Edges[e].Type, b.g.Edges[e].Weight = t, w
		return
	}
	for _, n := range [2]int32{from, to} {
		if !b.known[n] {
			b.known[n] = true
			b.order = append(b.order, n)
		}
	}
	id := int32(len(b.g.Edges))
	b.g.Edges = append(b.g.Edges, Edge{From: from, To: to, Type: t, Weight: w, Owner: owner})
	b.next = append(b.next, -1)
	if b.last[from] >= 0 {
		b.next[b.last[from]] = id
	} else {
		b.out[from] = id
	}
	b.last[from] = id
	if b.degree[from]++; b.degree[from] == manyEdges {
		for e := b.out[from]; e >= 0; e = b.next[e] {
			b.far[[2]int32{from, b.g.Edges[e].To}] = e
		}
	} else if b.degree[from] > manyEdges {
		b.far[[2]int32{from, to}] = id
	}
}

// manyEdges is the number of out edges from which on those of a node are looked up.
const manyEdges = 16

// find returns the edge between two nodes, -1 without one.
func (b *builder) find(from, to int32) int32 {
	if b.degree[from] >= manyEdges {
		if e, ok := b.far[[2]int32{from, to}]; ok {
			return e
		}
		return -1
	}
	e := b.out[from]
	for e >= 0 && b.g.Edges[e].To != to {
		e = b.next[e]
	}
	return e
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
		if e.Type == SyncDependency {
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
	degree := make([]int32, n+1)
	for i := range b.g.Edges {
		degree[b.g.Edges[i].To+1]++
	}
	first := make([]int32, n+1) // in-edges of node v: in[first[v]:first[v+1]], in insertion order
	for v := range n {
		first[v+1] = first[v] + degree[v+1]
	}
	in := make([]int32, len(b.g.Edges))
	at := append([]int32(nil), first...)
	for i := range b.g.Edges {
		t := b.g.Edges[i].To
		in[at[t]] = int32(i)
		at[t]++
	}
	open := make([]int32, n)
	var queue []int32
	for _, v := range b.order {
		open[v] = first[v+1] - first[v]
		if open[v] == 0 {
			queue = append(queue, v)
		}
	}
	dist, pred := make([]int64, n), fill(n, -1)
	best, seen := int32(-1), 0
	for ; seen < len(queue); seen++ {
		v := queue[seen]
		dist[v], pred[v] = bestIn(b.g, in[first[v]:first[v+1]], dist)
		if best < 0 || dist[v] > dist[best] {
			best = v
		}
		for e := b.out[v]; e >= 0; e = b.next[e] {
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
	reverse(b.g.PathNode)
	reverse(b.g.Path)
	return nil
}

func reverse(s []int32) {
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
}
