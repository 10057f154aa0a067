package nodes

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
)

// makeEdges makes the edges between nodes. What is certain comes first, so that of a cycle the weakest edge is left out.
// Cycles come from aggregation: two nodes may each hold something that the other waited for.
func (b *nodeBuilder) makeEdges() {
	l := newLinker(len(b.nodes))
	b.linkThreads(l)
	b.linkStreams(l)
	for i := range b.nodes {
		if from := b.nodes[i].from; from != None {
			l.add(from, ID(i), CallEdge)
		}
	}
	b.linkWaits(l)
	b.out.Edges = l.sorted()
	b.out.LeftOut = l.cyclic
}

// linkThreads chains the CPU nodes of each logical thread, and keeps where each node begins.
func (b *nodeBuilder) linkThreads(l *linker) {
	bounds := make([][]bound, len(b.threads))
	for i := range b.nodes {
		if n := b.nodes[i]; !n.GPU {
			bounds[n.thread] = append(bounds[n.thread], bound{n.piece, ID(i)})
		}
	}
	for _, chain := range bounds {
		slices.SortFunc(chain, func(x, y bound) int { return cmp.Compare(x.piece, y.piece) })
		for i := 1; i < len(chain); i++ {
			kind, from, to := SequentialEdge, chain[i-1].node, chain[i].node
			if b.nodes[from].tail != b.nodes[to].Lane {
				kind = CrossThreadEdge
			}
			l.add(from, to, kind)
		}
	}
	b.out.bounds = bounds
}

// linkStreams chains the GPU nodes of each stream by start, and each to the node of its first operation's predecessor
// on the stream: nodes of several threads may interleave there.
func (b *nodeBuilder) linkStreams(l *linker) {
	last := make([]ID, len(b.g.Lanes))
	for i := range last {
		last[i] = None
	}
	for i := range b.nodes {
		n := b.nodes[i]
		if !n.GPU {
			continue
		}
		if p := last[n.Lane]; p != None {
			l.add(p, ID(i), SequentialEdge)
		}
		last[n.Lane] = ID(i)
		for _, in := range b.g.Sources(n.head) {
			if in.Rule != cdg.StreamOrder {
				continue
			}
			if from := b.out.NodeOf[b.g.Acts[in.From].Event]; from != None && from != ID(i) {
				l.add(from, ID(i), SequentialEdge)
			}
		}
	}
}

// linkWaits adds the waits: of the calls that open nodes for operations, and of operations for other streams.
func (b *nodeBuilder) linkWaits(l *linker) {
	for i := range b.nodes {
		if n := b.nodes[i]; n.opened != cdg.NoAct {
			b.linkSources(l, n.opened, ID(i), cdg.Sync, cdg.Sync)
		}
	}
	for lane := range b.g.Lanes {
		if !b.g.Lanes[lane].Stream {
			continue
		}
		for a := b.g.Lanes[lane].First; a < b.g.Lanes[lane].Limit; a++ {
			if n := b.out.NodeOf[b.g.Acts[a].Event]; n != None {
				b.linkSources(l, a, n, cdg.EventWait, cdg.GraphOrder)
			}
		}
	}
}

func (b *nodeBuilder) linkSources(l *linker, a cdg.ActID, to ID, r1, r2 cdg.Rule) {
	for _, in := range b.g.Sources(a) {
		if in.Rule != r1 && in.Rule != r2 {
			continue
		}
		if from := b.out.NodeOf[b.g.Acts[in.From].Event]; from != None && from != to {
			l.add(from, to, SyncEdge)
		}
	}
}

// linker keeps a topological order of the nodes while edges are added (Pearce and Kelly 2006): an edge against the
// order moves only the nodes between its ends.
type linker struct {
	edges   []Edge
	rank    []int32
	in, out adjacency
	seen    []bool
	cyclic  int               // edges left out, each pair once
	refused map[Edge]struct{} // they, without kind
}

func newLinker(nodes int) *linker {
	l := &linker{rank: make([]int32, nodes), seen: make([]bool, nodes), refused: map[Edge]struct{}{}}
	for i := range l.rank {
		l.rank[i] = int32(i)
	}
	l.edges = make([]Edge, 0, 2*nodes)
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

func (a *adjacency) add(n ID) {
	a.next = append(a.next, a.first[n])
	a.first[n] = int32(len(a.next))
}

// add adds an edge, unless the two nodes are joined already or it would close a cycle.
func (l *linker) add(from, to ID, kind EdgeKind) {
	// Of a node with very many edges the other end mostly has few: the shorter of the two lists ends the search.
	for in, out := l.in.first[to], l.out.first[from]; in > 0 && out > 0; in, out = l.in.next[in-1], l.out.next[out-1] {
		if l.edges[in-1].From == from || l.edges[out-1].To == to {
			return
		}
	}
	if l.rank[from] > l.rank[to] {
		if _, is := l.refused[Edge{From: from, To: to}]; is {
			return
		}
		if !l.reorder(from, to) {
			l.refused[Edge{From: from, To: to}] = struct{}{}
			l.cyclic++
			return
		}
	}
	l.edges = append(l.edges, Edge{from, to, kind})
	l.in.add(to)
	l.out.add(from)
}

// sorted returns the edges by (To, From); no pair of nodes has two.
func (l *linker) sorted() []Edge {
	out := make([]Edge, 0, len(l.edges))
	for to := range l.in.first {
		at := len(out)
		for e := l.in.first[to]; e > 0; e = l.in.next[e-1] {
			out = append(out, l.edges[e-1])
		}
		slices.SortFunc(out[at:], func(x, y Edge) int { return cmp.Compare(x.From, y.From) })
	}
	return out
}

// reorder makes room for an edge whose ends stand the wrong way round; false when from can be reached from to.
func (l *linker) reorder(from, to ID) bool {
	low, high := l.rank[to], l.rank[from]
	var ahead, behind []ID
	ahead, ok := l.reach(to, &l.out, func(e Edge) ID { return e.To }, func(r int32) bool { return r <= high }, from)
	if ok {
		behind, _ = l.reach(from, &l.in, func(e Edge) ID { return e.From }, func(r int32) bool { return r >= low }, None)
	}
	byRank := func(x, y ID) int { return cmp.Compare(l.rank[x], l.rank[y]) }
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
func (l *linker) reach(from ID, edges *adjacency, end func(Edge) ID, counts func(int32) bool, avoid ID) ([]ID, bool) {
	found := []ID{from}
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
