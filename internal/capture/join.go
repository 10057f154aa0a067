package capture

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// Joined says how much of a trace found its capture.
type Joined struct {
	Replays, ReplaysJoined int
	OperationsJoined       int    // of graphs
	ByOrder                int    // of them those whose capture does not name its kernels: number, kinds and order decided
	NS, NSJoined           int64  // of all operations of graphs, and of those that were joined
	Refused                string // why a replay has no partner, of the first that has none
}

// least is which share of the names of a replay has to be those of its capture.
const least = 95 // percent

// furthest is by how many insertions and deletions two lists of operations are at most apart.
const furthest = 256

// replay is one launch of a graph in an iteration.
type replay struct {
	cdg.Replay
	step             int   // in which it was launched, -1 for none
	requests, tokens int64 // of that iteration, at least as many as the graph was captured for; -1 not told
}

// Join finds the origins of the operations of replayed graphs and gives them to the trace, which nothing has been made of yet. A replay has
// the capture with the operations of the same names; of several that are alike (layers) the order of the launches in an iteration is that of
// the captures. It is an error if no replay has a partner.
func Join(tr *trace.Trace, graphs []Graph) (Joined, error) {
	j := Joined{}
	if len(graphs) == 0 {
		return j, fmt.Errorf("no capture of a graph in it: it is recorded where the server captures its graphs, with the profiler running")
	}
	replays := findReplays(tr)
	if len(replays) == 0 {
		return j, fmt.Errorf("the trace replays no graph")
	}
	j.Replays = len(replays)
	m := matcher{tr: tr, graphs: graphs, tried: map[[2]int][]int32{}, syms: map[string]trace.Sym{}}
	m.number()
	kinds, pairs, count := make([]int, len(replays)), make([][]int32, len(replays)), map[[2]int]int{}
	for i := range replays {
		r := &replays[i]
		for _, op := range r.Ops {
			j.NS += tr.Dur(&tr.Events[op])
		}
		why := ""
		if kinds[i], pairs[i], why = m.partner(r); kinds[i] < 0 {
			j.Refused = cmp.Or(j.Refused, why)
		}
		count[[2]int{r.step, kinds[i]}]++
	}
	origins := &trace.Origins{Of: make([]int32, len(tr.Events))}
	first := make([]int32, len(graphs)) // 1 + where the nodes of a graph begin in the list
	turn := map[[2]int]int{}            // by step and sequence of nodes: how many of the graphs that are alike came
	for i := range replays {
		if kinds[i] < 0 {
			continue
		}
		list, key := m.kinds[kinds[i]], [2]int{replays[i].step, kinds[i]}
		at := turn[key]
		turn[key]++
		if replays[i].step < 0 { // of what began before the recording the last ones are there
			at += max(len(list)-count[key], 0)
		}
		g := list[at%len(list)]
		j.ReplaysJoined++
		if first[g] == 0 {
			first[g] = int32(len(origins.List)) + 1
			origins.List = append(origins.List, m.origins(&graphs[g])...)
		}
		for k, op := range replays[i].Ops {
			if node := pairs[i][k]; node >= 0 {
				origins.Of[op] = first[g] + node
				j.OperationsJoined++
				j.NSJoined += tr.Dur(&tr.Events[op])
				if !named(&graphs[g]) {
					j.ByOrder++
				}
			}
		}
	}
	if j.ReplaysJoined == 0 {
		return j, fmt.Errorf("not the capture of what the trace replays: %s", j.Refused)
	}
	tr.Origins = origins
	return j, nil
}

// findReplays lists the launches of graphs by start.
func findReplays(tr *trace.Trace) []replay {
	var list []replay
	for _, r := range cdg.Replays(tr) {
		list = append(list, replay{r, -1, -1, -1})
	}
	iterations := tr.Iterations()
	n := -1
	for i := range list {
		r := &list[i]
		for n+1 < len(iterations) && tr.Events[iterations[n+1].Event].Start <= tr.Events[r.Call].Start {
			n++
		}
		if n >= 0 {
			it := &iterations[n]
			r.step, r.requests, r.tokens = n, it.Batch, max(it.Tokens, it.Padded)
		}
	}
	return list
}

// Batches are how many requests the iterations have that replay graphs, each number once and in order; none where a name does not tell.
func Batches(tr *trace.Trace) (list []int64) {
	for _, r := range findReplays(tr) {
		if r.step >= 0 && r.requests < 0 {
			return nil
		}
		if r.step >= 0 {
			list = append(list, r.requests)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// matcher finds the partner of each replay.
type matcher struct {
	tr     *trace.Trace
	graphs []Graph
	kinds  [][]int            // the graphs of each sequence of nodes, in order
	tried  map[[2]int][]int32 // by sequences of operations and of nodes: per operation its node, -1 for none; nil where they are no partners
	syms   map[string]trace.Sym
}

// number gives equal sequences of nodes one number.
func (m *matcher) number() {
	seen := map[string]int{}
	for i := range m.graphs {
		var b strings.Builder
		for k := range m.graphs[i].Nodes {
			fmt.Fprintf(&b, "%d %s\n", m.graphs[i].Nodes[k].Kind, m.graphs[i].Nodes[k].Name)
		}
		fmt.Fprint(&b, m.graphs[i].Batch, m.graphs[i].Requests)
		n, ok := seen[b.String()]
		if !ok {
			n = len(m.kinds)
			seen[b.String()] = n
			m.kinds = append(m.kinds, nil)
		}
		m.kinds[n] = append(m.kinds[n], i)
	}
}

// partner finds the sequence of nodes of a replay, -1 for none, and for each operation its node. why says what spoke against the nearest.
func (m *matcher) partner(r *replay) (best int, pairs []int32, why string) {
	best = -1
	most := 0
	for kind, list := range m.kinds {
		g := &m.graphs[list[0]]
		if d := len(g.Nodes) - len(r.Ops); max(d, -d) > furthest {
			why = cmp.Or(why, fmt.Sprintf("it captured %d operations, %d are replayed", len(g.Nodes), len(r.Ops)))
			continue
		}
		size := r.requests
		if !g.Requests && r.tokens >= 0 {
			size = r.tokens
		}
		if g.Batch >= 0 && g.Batch < size {
			why = fmt.Sprintf("it was captured for a batch of %d, and a batch of %d is replayed", g.Batch, size)
			continue
		}
		key := [2]int{r.Graph, kind}
		p, ok := m.tried[key]
		if !ok {
			p = m.align(g, r)
			m.tried[key] = p
		}
		n := 0
		for _, x := range p {
			if x >= 0 {
				n++
			}
		}
		switch {
		case !named(g) && m.unordered(r):
			why = cmp.Or(why, "neither names nor numbers of nodes tell its kernels, and those of the replay are of several streams")
		case 100*n < least*len(r.Ops), !named(g) && n < len(r.Ops):
			why = cmp.Or(why, "the names of the operations differ")
		case best < 0, n > most, n == most && nearer(g.Batch, m.graphs[m.kinds[best][0]].Batch):
			best, most, pairs = kind, n, p
		}
	}
	return best, pairs, why
}

// nearer reports whether of two batches, both large enough, the first is the one that a server would take: the least.
func nearer(a, b int64) bool { return a >= 0 && (b < 0 || a < b) }

// unordered reports whether nothing says in which order the operations of a replay were captured: they are of several streams.
func (m *matcher) unordered(r *replay) bool {
	return !r.ByNode && slices.ContainsFunc(r.Ops, func(op trace.EventID) bool { return m.tr.Events[op].Track != m.tr.Events[r.Ops[0]].Track })
}

// align gives each operation of a replay its node, -1 where it has none. Where each name comes as often on both sides, the n-th of a name is the
// n-th, which several streams do not change; else it is the alignment in order.
func (m *matcher) align(g *Graph, r *replay) []int32 {
	nodes := map[string][]int32{}
	for n := range g.Nodes {
		nodes[g.Nodes[n].Name] = append(nodes[g.Nodes[n].Name], int32(n))
	}
	if !named(g) { // there are only kinds, and the names of compiled kernels, which are those of their operators
		if len(g.Nodes) != len(r.Ops) {
			return nil
		}
		return shortest(len(r.Ops), len(g.Nodes), func(k, n int) bool {
			e, x := &m.tr.Events[r.Ops[k]], &g.Nodes[n]
			operator := ""
			if len(x.Operators) > 0 {
				operator = g.Trace.Name(x.Operators[0])
			}
			return e.Kind == x.Kind && (!strings.HasPrefix(operator, "triton_") || m.tr.Str(e.Name) == operator)
		})
	}
	out, used := make([]int32, len(r.Ops)), map[string]int{}
	equal := len(g.Nodes) == len(r.Ops)
	for k, op := range r.Ops {
		e := &m.tr.Events[op]
		name := m.tr.Str(e.Name)
		if e.Kind != trace.Kernel { // copies and memsets are called otherwise where they run
			name = ""
		}
		if used[name]++; used[name] > len(nodes[name]) {
			equal = false
			break
		}
		out[k] = nodes[name][used[name]-1]
		equal = equal && g.Nodes[out[k]].Kind == e.Kind
	}
	if equal {
		return out
	}
	return shortest(len(r.Ops), len(g.Nodes), func(k, n int) bool {
		e, x := &m.tr.Events[r.Ops[k]], &g.Nodes[n]
		return x.Name != "" && m.tr.Str(e.Name) == x.Name || x.Name == "" && e.Kind == x.Kind
	})
}

func named(g *Graph) bool {
	return slices.ContainsFunc(g.Nodes, func(n Node) bool { return n.Name != "" })
}

// shortest pairs two lists with the fewest insertions and deletions (Myers), at most furthest of them; nil if there are more.
func shortest(n, m int, same func(i, j int) bool) []int32 {
	far := make([]int32, 2*furthest+3) // by diagonal: how far in the first list
	var trail [][]int32
	at := func(k int) *int32 { return &far[k+furthest+1] }
	for d := 0; d <= furthest; d++ {
		for k := -d; k <= d; k += 2 {
			x := int32(0)
			switch {
			case d == 0:
			case k == -d || k != d && *at(k - 1) < *at(k + 1):
				x = *at(k + 1)
			default:
				x = *at(k - 1) + 1
			}
			for int(x) < n && int(x)-k < m && int(x)-k >= 0 && same(int(x), int(x)-k) {
				x++
			}
			*at(k) = x
			if int(x) >= n && int(x)-k >= m {
				return pairsOf(trail, n, m, d)
			}
		}
		trail = append(trail, slices.Clone(far))
	}
	return nil
}

// pairsOf walks back over what shortest has noted after each number of changes.
func pairsOf(trail [][]int32, n, m, d int) []int32 {
	out := slices.Repeat([]int32{-1}, n)
	x, y := n, m
	for ; d >= 0; d-- {
		px, py, sx := 0, 0, 0 // the point before the change, and where equal ones begin after it
		if d > 0 {
			at := func(k int) int { return int(trail[d-1][k+furthest+1]) }
			if k := x - y; k == -d || k != d && at(k-1) < at(k+1) {
				px = at(k + 1)
				py, sx = px-k-1, px
			} else {
				px = at(k - 1)
				py, sx = px-k+1, px+1
			}
		}
		for x > sx {
			x, y = x-1, y-1
			out[x] = int32(y)
		}
		x, y = px, py
	}
	return out
}

// origins are those of the nodes of a graph.
func (m *matcher) origins(g *Graph) []trace.Origin {
	sym := func(s string) trace.Sym {
		if s == "" {
			return 0
		}
		n, ok := m.syms[s]
		if !ok {
			n = trace.Sym(len(m.tr.Syms))
			m.tr.Syms = append(m.tr.Syms, s)
			m.syms[s] = n
		}
		return n
	}
	out := make([]trace.Origin, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		o := trace.Origin{Trace: g.Trace, Operators: n.Operators, Module: sym(n.Module), Line: sym(n.Line)}
		if len(n.Operators) > 0 {
			o.Operator = sym(g.Trace.Name(n.Operators[0]))
			v, _ := g.Trace.Arg(n.Operators[0], "kernel_file")
			o.File = sym(strings.Clone(v.Text))
		}
		out[i] = o
	}
	return out
}
