package testtrace

// jobGraph is a run of a job as points in time. A point is reached when everything that leads to it is over: each edge
// takes a fixed time and that of a knob. So a run with one knob changed shows what that knob alone does, and the edge
// that came last is the true path.
type jobGraph struct {
	at    []int64 // time of the point
	best  []int32 // edge that came last, -1 at a beginning
	head  []int32 // first edge into the point, -1
	rank  []int32 // whose point it is, -1 for that of a collective
	edges []jobEdge
	knobs []int64 // durations
	clean []int64 // the same without what was planted
	order []int32 // points, each behind those that it waits for
}

// jobEdge leads from one point to another.
type jobEdge struct {
	from, to int32
	knob     int32 // -1: none
	act      int32 // activity that fills it, -1 for a delay
	next     int32 // into the same point
	add      int64
}

func (g *jobGraph) point(rank int32) int32 {
	g.head, g.rank = append(g.head, -1), append(g.rank, rank)
	return int32(len(g.head) - 1)
}

// tune adds a knob: a duration, and what it would be without the planted cause.
func (g *jobGraph) tune(dur, clean int64) int32 {
	g.knobs, g.clean = append(g.knobs, dur), append(g.clean, clean)
	return int32(len(g.knobs) - 1)
}

func (g *jobGraph) edge(from, to, knob, act int32, add int64) {
	g.edges = append(g.edges, jobEdge{from: from, to: to, knob: knob, act: act, next: g.head[to], add: add})
	g.head[to] = int32(len(g.edges) - 1)
}

// after adds a point that follows another by a delay.
func (g *jobGraph) after(from int32, add int64) int32 {
	p := g.point(g.rank[from])
	g.edge(from, p, -1, -1, add)
	return p
}

// sort finds an order in which every point comes behind those that it waits for.
func (g *jobGraph) sort() {
	n := len(g.head)
	waits, first, next := make([]int32, n), make([]int32, n), make([]int32, len(g.edges))
	for i := range first {
		first[i] = -1
	}
	for i := range g.edges {
		e := &g.edges[i]
		waits[e.to]++
		next[i], first[e.from] = first[e.from], int32(i)
	}
	g.order = g.order[:0]
	for i := range waits {
		if waits[i] == 0 {
			g.order = append(g.order, int32(i))
		}
	}
	for i := 0; i < len(g.order); i++ {
		for e := first[g.order[i]]; e >= 0; e = next[e] {
			to := g.edges[e].to
			if waits[to]--; waits[to] == 0 {
				g.order = append(g.order, to)
			}
		}
	}
	if len(g.order) != n {
		panic("testtrace: internal error: the ranks of a made job wait for each other in a circle")
	}
	g.at, g.best = make([]int64, n), make([]int32, n)
}

// run fills at and best for some durations.
func (g *jobGraph) run(knobs []int64) { g.times(knobs, g.at, g.best) }

func (g *jobGraph) times(knobs, at []int64, best []int32) {
	for _, p := range g.order {
		t, b := int64(0), int32(-1)
		for e := g.head[p]; e >= 0; e = g.edges[e].next {
			if end := at[g.edges[e].from] + g.took(e, knobs); b < 0 || end >= t {
				t, b = end, e // of equal ones the edge that was added first
			}
		}
		at[p] = t
		if best != nil {
			best[p] = b
		}
	}
}

func (g *jobGraph) took(e int32, knobs []int64) int64 {
	d := g.edges[e].add
	if k := g.edges[e].knob; k >= 0 {
		d += knobs[k]
	}
	return d
}

// never is later than any time of a job.
const never = int64(1) << 60

// latest gives for each point how late it may be without moving end; never where it leads to nothing of end.
func (g *jobGraph) latest(ends []int32, end int64) []int64 {
	late := make([]int64, len(g.head))
	for i := range late {
		late[i] = never
	}
	for _, p := range ends {
		late[p] = end
	}
	for i := len(g.order) - 1; i >= 0; i-- {
		p := g.order[i]
		if late[p] == never {
			continue
		}
		for e := g.head[p]; e >= 0; e = g.edges[e].next {
			from := g.edges[e].from
			late[from] = min(late[from], late[p]-g.took(e, g.knobs))
		}
	}
	return late
}
