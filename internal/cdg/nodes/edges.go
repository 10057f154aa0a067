package nodes

import (
	"cmp"
	"slices"
)

// link makes the edges between nodes: what is certain first, so that of a cycle the weakest edge is left out.
// Cycles come from aggregation: two nodes may each hold something that the other waited for.
func (b *nodeBuilder) link() {
	l := newLinker(len(b.nodes))
	b.linkThreads(l)
	b.linkStreams(l)
	for i := range b.nodes {
		if from := b.nodes[i].from; from != NoNode {
			l.add(from, NodeID(i), CallEdge)
		}
	}
	b.linkWaits(l)
	b.g.Edges = l.sorted()
	if l.cyclic > 0 {
		b.g.Quality["cdg_edges_left_out"] = l.cyclic
	}
}

// linkThreads chains the CPU nodes of each logical thread, and keeps where each node begins.
func (b *nodeBuilder) linkThreads(l *linker) {
	bounds := make([][]bound, len(b.threads))
	for i := range b.nodes {
		if n := &b.nodes[i]; !n.GPU {
			bounds[n.thread] = append(bounds[n.thread], bound{n.stretch, NodeID(i)})
		}
	}
	for _, chain := range bounds {
		slices.SortFunc(chain, func(x, y bound) int { return cmp.Compare(x.stretch, y.stretch) })
		for i := 1; i < len(chain); i++ {
			kind, from, to := SequentialEdge, chain[i-1].node, chain[i].node
			if b.nodes[from].tail != b.nodes[to].Lane {
				kind = CrossThreadEdge
			}
			l.add(from, to, kind)
		}
	}
	b.g.bounds = bounds
}

// linkStreams chains the GPU nodes of each stream by start, and each to the node of its first operation's predecessor
// on the stream: nodes of several threads may interleave there.
func (b *nodeBuilder) linkStreams(l *linker) {
	last := make([]NodeID, len(b.d.Lanes))
	for i := range last {
		last[i] = NoNode
	}
	for i := range b.nodes {
		n := &b.nodes[i]
		if !n.GPU {
			continue
		}
		if p := last[n.Lane]; p != NoNode {
			l.add(p, NodeID(i), SequentialEdge)
		}
		last[n.Lane] = NodeID(i)
		for _, in := range b.d.Sources(n.head) {
			if in.Rule != StreamOrder {
				continue
			}
			if from := b.g.NodeOf[b.d.Acts[in.From].Event]; from != NoNode && from != NodeID(i) {
				l.add(from, NodeID(i), SequentialEdge)
			}
		}
	}
}

// linkWaits adds the waits: of the calls that open nodes for operations, and of operations for other streams.
func (b *nodeBuilder) linkWaits(l *linker) {
	for i := range b.nodes {
		if n := &b.nodes[i]; n.opened != NoAct {
			b.linkSources(l, n.opened, NodeID(i), Sync, Sync)
		}
	}
	for lane := range b.d.Lanes {
		if !b.d.Lanes[lane].Stream {
			continue
		}
		for a := b.d.Lanes[lane].First; a < b.d.Lanes[lane].Limit; a++ {
			if n := b.g.NodeOf[b.d.Acts[a].Event]; n != NoNode {
				b.linkSources(l, a, n, EventWait, GraphOrder)
			}
		}
	}
}

func (b *nodeBuilder) linkSources(l *linker, a ActID, to NodeID, r1, r2 Rule) {
	for _, in := range b.d.Sources(a) {
		if in.Rule != r1 && in.Rule != r2 {
			continue
		}
		if from := b.g.NodeOf[b.d.Acts[in.From].Event]; from != NoNode && from != to {
			l.add(from, to, SyncEdge)
		}
	}
}

// linker keeps a topological order of the nodes while edges are added (Pearce and Kelly 2006): an edge against the
// order moves only the nodes between its ends.
type linker struct {
	edges   []NodeEdge
	rank    []int32
	in, out adjacency
	seen    []bool
	cyclic  int                   // edges left out, each pair once
	refused map[NodeEdge]struct{} // they, without kind
}

func newLinker(nodes int) *linker {
	l := &linker{rank: make([]int32, nodes), seen: make([]bool, nodes), refused: map[NodeEdge]struct{}{}}
	for i := range l.rank {
		l.rank[i] = int32(i)
	}
	l.edges = make([]NodeEdge, 0, 2*nodes)
	l.in, l.out = newAdjacency(nodes), newAdjacency(nodes)
	return l
}

// adjacency lists for each node the edges on one side of it, as chains.
type adjacency struct {
	first []int32 // per node: 1 + its last edge, 0 without
	next  []int32 // per edge: 1 + the one before it
}

func newAdjacency(nodes int) adjacency {
	return adjacency{first: make([]int32, nodes), next: make([]int32, 0, 2*nodes)}
}

func (a *adjacency) add(n NodeID) {
	a.next = append(a.next, a.first[n])
	a.first[n] = int32(len(a.next))
}

// add adds an edge, unless the two nodes are joined already or it would close a cycle.
func (l *linker) add(from, to NodeID, kind NodeEdgeKind) {
	// Of a node with very many edges the other end mostly has few: the shorter of the two lists ends the search.
	for in, out := l.in.first[to], l.out.first[from]; in > 0 && out > 0; in, out = l.in.next[in-1], l.out.next[out-1] {
		if l.edges[in-1].From == from || l.edges[out-1].To == to {
			return
		}
	}
	if l.rank[from] > l.rank[to] {
		if _, is := l.refused[NodeEdge{From: from, To: to}]; is {
			return
		}
		if !l.reorder(from, to) {
			l.refused[NodeEdge{From: from, To: to}] = struct{}{}
			l.cyclic++
			return
		}
	}
	l.edges = append(l.edges, NodeEdge{from, to, kind})
	l.in.add(to)
	l.out.add(from)
}

// sorted returns the edges by (To, From); no pair of nodes has two.
func (l *linker) sorted() []NodeEdge {
	out := make([]NodeEdge, 0, len(l.edges))
	for to := range l.in.first {
		at := len(out)
		for e := l.in.first[to]; e > 0; e = l.in.next[e-1] {
			out = append(out, l.edges[e-1])
		}
		slices.SortFunc(out[at:], func(x, y NodeEdge) int { return cmp.Compare(x.From, y.From) })
	}
	return out
}

// reorder makes room for an edge whose ends stand the wrong way round; false when from can be reached from to.
func (l *linker) reorder(from, to NodeID) bool {
	low, high := l.rank[to], l.rank[from]
	var ahead, behind []NodeID
	ahead, ok := l.reach(to, &l.out, func(e NodeEdge) NodeID { return e.To }, func(r int32) bool { return r <= high }, from)
	if ok {
		behind, _ = l.reach(from, &l.in, func(e NodeEdge) NodeID { return e.From }, func(r int32) bool { return r >= low }, NoNode)
	}
	byRank := func(x, y NodeID) int { return cmp.Compare(l.rank[x], l.rank[y]) }
	slices.SortFunc(ahead, byRank)
	slices.SortFunc(behind, byRank)
	nodes := append(behind, ahead...)
	ranks := make([]int32, len(nodes))
	for i, n := range nodes {
		ranks[i], l.seen[n] = l.rank[n], false
	}
	if !ok {
		return false
	}
	slices.Sort(ranks)
	for i, n := range nodes {
		l.rank[n] = ranks[i]
	}
	return true
}

// reach collects the nodes that can be reached inside the ranks that count; false as soon as one of them is avoid.
func (l *linker) reach(from NodeID, edges *adjacency, end func(NodeEdge) NodeID, counts func(int32) bool, avoid NodeID) ([]NodeID, bool) {
	found := []NodeID{from}
	l.seen[from] = true
	for i := 0; i < len(found); i++ {
		for e := edges.first[found[i]]; e > 0; e = edges.next[e-1] {
			n := end(l.edges[e-1])
			if n == avoid {
				return found, false
			}
			if !l.seen[n] && counts(l.rank[n]) {
				l.seen[n] = true
				found = append(found, n)
			}
		}
	}
	return found, true
}
