package critpath

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// CTDA finds the path of the CTDA-CPA paper: backward over the aggregated graph, always to the predecessor that
// ended last (Algorithm 1). What it does not explain stays a hole between segments. It fails on a window without nodes.
func CTDA(g *graph.Graph) (*Path, error) {
	if g.Window.End <= g.Window.Start || len(g.Nodes) == 0 {
		return nil, fmt.Errorf("critical path: the window holds no activity")
	}
	c := &ctda{g: g, tr: g.Trace, quality: map[string]int{}}
	for reason, n := range g.Quality {
		c.quality[reason] = n
	}
	c.invert()
	c.walk(c.startNode())
	c.cutEffective()
	c.collect()
	c.note()
	p := &Path{Method: "ctda", Window: g.Window, Nodes: c.path, Segments: SegmentsOf(c.tile()), Edges: EdgesOf(c.edges()), Quality: c.quality}
	p.Duration = c.duration()
	p.mark(len(c.tr.Events))
	return p, nil
}

// ctda is the state of Algorithm 1.
type ctda struct {
	g       *graph.Graph
	tr      *trace.Trace
	first   []int32      // CSR: the edges into node n are g.Edges[first[n]:first[n+1]]
	path    []nodes.ID   // in time order
	via     []nodes.Edge // via[i] is the edge from path[i-1] to path[i]
	at      []int32      // per node: its index on the path, -1
	from    []int64      // per path index: start of its effective time
	to      []int64      // per path index: end of its effective time
	pieces  []nodePiece  // time of the critical nodes, by activity
	quality map[string]int
}

// nodePiece is a piece of a critical node: time that belongs to one activity.
type nodePiece struct {
	start, end int64
	act        cdg.ActID
	at         int32 // index on the path
}

// invert is lines 1 to 5: the sources of each node. Edges are sorted by target already.
func (c *ctda) invert() {
	c.first = make([]int32, len(c.g.Nodes)+1)
	for _, e := range c.g.Edges {
		c.first[e.To+1]++
	}
	for i := range c.g.Nodes {
		c.first[i+1] += c.first[i]
	}
}

// startNode is lines 6 to 13: the node with the latest end; a GPU node only when it ends strictly later than every CPU
// node. Nodes that run on beyond the window do not decide its end.
func (c *ctda) startNode() nodes.ID {
	cpu, gpu := c.latest(false), c.latest(true)
	if cpu == nodes.None || gpu != nodes.None && c.g.Nodes[gpu].End > c.g.Nodes[cpu].End {
		return gpu
	}
	return cpu
}

func (c *ctda) latest(gpu bool) nodes.ID {
	best, bestRuns := nodes.None, true
	for i := range c.g.Nodes {
		n := &c.g.Nodes[i]
		if n.GPU != gpu {
			continue
		}
		runs := c.tr.End(&c.tr.Events[n.Last]) > c.g.Window.End
		if best == nodes.None || bestRuns && !runs || runs == bestRuns && c.endsLater(n, &c.g.Nodes[best]) {
			best, bestRuns = nodes.ID(i), runs
		}
	}
	return best
}

// endsLater orders nodes by end; of CPU nodes that end together the one whose thread launches more counts, then the later start.
func (c *ctda) endsLater(a, b *nodes.Node) bool {
	if a.End != b.End {
		return a.End > b.End
	}
	if !a.GPU {
		if x, y := c.g.Launches(a.Lane), c.g.Launches(b.Lane); x != y {
			return x > y
		}
	}
	return a.Start > b.Start
}

// walk is lines 14 to 42: from the start node back until a node without predecessors.
func (c *ctda) walk(n nodes.ID) {
	c.path = []nodes.ID{n}
	c.via = []nodes.Edge{{}}
	for {
		e, ok := c.predecessor(n)
		if !ok {
			break
		}
		n = e.From
		c.path = append(c.path, n)
		c.via[len(c.via)-1] = e
		c.via = append(c.via, nodes.Edge{})
	}
	slices.Reverse(c.path)
	slices.Reverse(c.via)
	c.at = make([]int32, len(c.g.Nodes))
	for i := range c.at {
		c.at[i] = -1
	}
	for i, n := range c.path {
		c.at[n] = int32(i)
	}
}

// predecessor chooses the edge to go back. Of predecessors that end together a GPU node comes before a CPU node, then the later start.
func (c *ctda) predecessor(n nodes.ID) (nodes.Edge, bool) {
	in := c.g.Edges[c.first[n]:c.first[n+1]]
	node := &c.g.Nodes[n]
	if node.GPU {
		return c.choose(in, func(nodes.Edge) bool { return true }) // lines 27 to 38
	}
	gpu := func(e nodes.Edge) bool { return c.g.Nodes[e.From].GPU }
	if node.Sync { // lines 18 to 22
		if e, ok := c.choose(in, gpu); ok {
			return e, true
		}
	}
	if e, ok := c.choose(in, func(e nodes.Edge) bool { return !gpu(e) }); ok { // lines 23 to 26
		return e, true
	}
	e, ok := c.choose(in, gpu)
	if ok { // the paper leaves this open: no CPU predecessor, and no synchronisation
		c.quality["ctda_only_gpu_predecessors"]++
	}
	return e, ok
}

func (c *ctda) choose(in []nodes.Edge, counts func(nodes.Edge) bool) (nodes.Edge, bool) {
	best, found := nodes.Edge{}, false
	for _, e := range in {
		if counts(e) && (!found || c.later(e, best)) {
			best, found = e, true
		}
	}
	return best, found
}

func (c *ctda) later(a, b nodes.Edge) bool {
	x, y := c.effectiveEnd(a), c.effectiveEnd(b)
	if x != y {
		return x > y
	}
	m, n := &c.g.Nodes[a.From], &c.g.Nodes[b.From]
	if m.GPU != n.GPU {
		return m.GPU
	}
	return m.Start > n.Start
}

// effectiveEnd is lines 28 to 36: what launches a GPU node needs only its first launch call for that; section 3.4 and
// Figure 7 of the paper take the end of the call.
func (c *ctda) effectiveEnd(e nodes.Edge) int64 {
	from := &c.g.Nodes[e.From]
	if c.g.Nodes[e.To].GPU && !from.GPU {
		return c.launchEnd(from)
	}
	return from.End
}

func (c *ctda) launchEnd(n *nodes.Node) int64 {
	if n.Launch == trace.NoEvent {
		return n.End
	}
	return min(n.End, c.tr.End(&c.tr.Events[n.Launch]))
}

// cutEffective sets the effective time of each critical node (section 3.4): a CPU node whose GPU node is critical too
// counts up to the end of its first launch call; a CPU node that waited for a critical GPU node counts from that one's end.
func (c *ctda) cutEffective() {
	c.from, c.to = make([]int64, len(c.path)), make([]int64, len(c.path))
	for i, n := range c.path {
		node := &c.g.Nodes[n]
		c.from[i], c.to[i] = node.Start, node.End
		if e := c.via[i]; i > 0 && e.Kind == nodes.SyncEdge && !node.GPU {
			c.from[i] = min(max(node.Start, c.waitEnd(e)), node.End)
		}
	}
	for _, n := range c.path {
		if !c.g.Nodes[n].GPU {
			continue
		}
		for _, e := range c.g.Edges[c.first[n]:c.first[n+1]] {
			if at := c.at[e.From]; e.Kind == nodes.CallEdge && at >= 0 {
				c.to[at] = max(c.from[at], c.launchEnd(&c.g.Nodes[e.From]))
			}
		}
	}
}

// waitEnd returns when the wait that an edge stands for was over.
func (c *ctda) waitEnd(e nodes.Edge) int64 {
	if _, wait := c.waited(e); wait != nil {
		return min(c.g.Acts[wait.From].End, c.tr.End(&c.tr.Events[c.g.Nodes[e.To].First]))
	}
	return c.g.Nodes[e.To].Start
}

// waited finds the wait that an edge stands for, of an operation of its source node, and who waited: the blocking call
// which opens a CPU node, or the first operation of a GPU node that waited.
func (c *ctda) waited(e nodes.Edge) (cdg.ActID, *cdg.Wait) {
	g := c.g
	node := &g.Nodes[e.To]
	last := g.ActOf[node.First]
	if node.GPU {
		last = g.ActOf[node.Last]
	}
	for a := g.ActOf[node.First]; a <= last; a++ {
		if g.NodeOf[g.Acts[a].Event] != e.To {
			continue
		}
		var best *cdg.Wait
		for i, row := 0, g.Sources(a); i < len(row); i++ {
			in := &row[i]
			wait := in.Rule == cdg.Sync || in.Rule == cdg.EventWait || in.Rule == cdg.GraphOrder
			if wait && g.NodeOf[g.Acts[in.From].Event] == e.From && (best == nil || g.Acts[in.From].End > g.Acts[best.From].End) {
				best = in
			}
		}
		if best != nil {
			return a, best
		}
	}
	return cdg.NoAct, nil
}
