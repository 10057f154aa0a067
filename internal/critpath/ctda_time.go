package critpath

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// collect gathers the time of the critical nodes, activity by activity, inside their effective time.
func (c *ctda) collect() {
	events := 0
	for _, n := range c.path {
		events += int(c.g.Nodes[n].Events)
	}
	c.pieces = make([]nodePiece, 0, events+events/4) // some have several
	add := func(at int32, start, end int64, act cdg.ActID) {
		if start, end = max(start, c.from[at]), min(end, c.to[at]); start < end {
			c.pieces = append(c.pieces, nodePiece{start, end, act, at})
		}
	}
	c.g.CPUTime(c.g.Graph, func(n nodes.ID, s nodes.Piece) {
		if at := c.at[n]; at >= 0 {
			add(at, s.Start, s.End, s.Act)
		}
	})
	d := c.g
	for l := range d.Lanes {
		if !d.Lanes[l].Stream {
			continue
		}
		for a := d.Lanes[l].First; a < d.Lanes[l].Limit; a++ {
			act := &d.Acts[a]
			if n := c.g.NodeOf[act.Event]; n != nodes.None && c.at[n] >= 0 {
				add(c.at[n], act.Start, act.End, a)
			}
		}
	}
	cdg.SortRuns(c.pieces, (*nodePiece).less) // there is a sorted run for each logical thread and each stream
}

// less orders pieces by time; of equal starts the one that comes first on the path.
func (x *nodePiece) less(y *nodePiece) bool {
	if x.start != y.start {
		return x.start < y.start
	}
	if x.at != y.at {
		return x.at < y.at
	}
	return x.act < y.act
}

// tile makes segments of the collected time. Time that two events share belongs to the one that started first: it is counted once.
func (c *ctda) tile() []Segment {
	segs := make([]Segment, 0, len(c.pieces))
	w := walker{tr: c.tr, comm: c.tr.ByName(vendors.IsCollective), host: newHostSet(c.g.Graph.Layout)}
	t := c.g.Window.Start
	for _, p := range c.pieces {
		start := max(p.start, t)
		if start >= p.end {
			continue
		}
		t = p.end
		act := &c.g.Acts[p.act]
		s := Segment{Start: start, End: p.end, Event: act.Event, Track: c.tr.Events[act.Event].Track, Evidence: cdg.ByProgram}
		if node := &c.g.Nodes[c.path[p.at]]; node.GPU {
			s.Kind, s.Evidence = w.opKind(act.Event), cdg.ByStream
			if act.Event == node.First && p.at > 0 {
				s.Evidence = c.evidence(c.via[p.at])
			}
		} else {
			s.Kind, s.Evidence = w.host.own(p.act)
			if act.Event == node.First && p.at > 0 && c.via[p.at].Kind == nodes.SyncEdge {
				s.Kind, s.Evidence = SyncWait, c.evidence(c.via[p.at])
			}
		}
		if n := len(segs); n > 0 && segs[n-1].End == start && segs[n-1].Event == s.Event && segs[n-1].Kind == s.Kind {
			segs[n-1].End = p.end
			continue
		}
		segs = append(segs, s)
	}
	return segs
}

// duration sums the effective time of the critical nodes, each instant once.
func (c *ctda) duration() int64 {
	spans := make([][2]int64, 0, len(c.path))
	for i := range c.path {
		spans = append(spans, [2]int64{c.from[i], c.to[i]})
	}
	slices.SortFunc(spans, func(x, y [2]int64) int { return cmp.Compare(x[0], y[0]) })
	sum, t := int64(0), c.g.Window.Start
	for _, s := range spans {
		sum += max(0, s[1]-max(s[0], t))
		t = max(t, s[1])
	}
	return sum
}

func (c *ctda) evidence(e nodes.Edge) cdg.Evidence {
	switch e.Kind {
	case nodes.CallEdge:
		return cdg.ByCorrelation
	case nodes.CrossThreadEdge:
		return cdg.ByAlignment
	case nodes.SyncEdge:
		if _, wait := c.waited(e); wait != nil {
			return wait.Evidence
		}
		return cdg.ByAlignment
	}
	if c.g.Nodes[e.To].GPU {
		return cdg.ByStream
	}
	return cdg.ByProgram
}

var nodeEdgeTypes = [nodes.NumEdgeKinds]EdgeType{nodes.SequentialEdge: SequentialNodeEdge, nodes.CallEdge: CallNodeEdge,
	nodes.SyncEdge: SyncNodeEdge, nodes.CrossThreadEdge: CrossThreadNodeEdge}

// edges turns the steps of the path into edges between events: from what ended a node's effective time to what begins the next.
func (c *ctda) edges() []Edge {
	edges := make([]Edge, 0, len(c.path)-1)
	for i := 1; i < len(c.path); i++ {
		step := c.via[i]
		from, to := &c.g.Nodes[step.From], &c.g.Nodes[step.To]
		e := Edge{From: from.Last, To: to.First, FromEnd: true, Type: nodeEdgeTypes[step.Kind], Evidence: c.evidence(step)}
		end := c.to[i-1]
		switch step.Kind {
		case nodes.CallEdge:
			if call := c.tr.Launch(to.First); call != trace.NoEvent {
				e.From, end = call, c.tr.End(&c.tr.Events[call])
			}
		case nodes.SyncEdge:
			if waiter, wait := c.waited(step); wait != nil {
				op := &c.g.Acts[wait.From]
				e.From, e.To, end = op.Event, c.g.Acts[waiter].Event, op.End
			}
			e.ToEnd = !to.GPU
		default:
			if c.to[i-1] < from.End && from.Launch != trace.NoEvent {
				e.From = from.Launch
			}
		}
		if !e.ToEnd {
			e.Weight = max(0, c.tr.Events[e.To].Start-end)
		}
		e.Row = c.tr.Events[e.From].Track == c.tr.Events[e.To].Track
		edges = append(edges, e)
	}
	return edges
}

// note counts what the paper names as limits: threads of one logical thread that worked at the same time, whose order
// by time stamps is no dependency; and critical GPU nodes that ran nothing for more than half of their time, in which
// a late launch may have bound an operation, not the one before.
func (c *ctda) note() {
	if ns := c.g.Overlap(c.g.Graph); ns > 0 {
		c.quality["ctda_threads_overlap_ns"] = int(ns)
	}
	for _, n := range c.path {
		if node := &c.g.Nodes[n]; node.GPU && 2*node.Busy < node.End-node.Start {
			c.quality["ctda_sparse_gpu_nodes"]++
		}
	}
}

// PaperHotspot is a line of the paper's table.
type PaperHotspot struct {
	Name       string // normalised
	Category   string // kernel, gpu_memcpy, gpu_memset, cpu_op, user_annotation, python_function, cuda_runtime
	Calls      int
	NS         int64   // self time inside effective time
	OfPath     float64 // proportion: share of the time of all events on the path
	OfMakespan float64 // prop_in_total: share of the window
}

var paperCategories = [trace.NumKinds]string{trace.CPUOp: "cpu_op", trace.Annotation: "user_annotation", trace.Python: "python_function",
	trace.Runtime: "cuda_runtime", trace.Driver: "cuda_runtime", trace.Kernel: "kernel", trace.Memcpy: "gpu_memcpy", trace.Memset: "gpu_memset"}

// PaperHotspots are the two tables of the paper, CPU events and GPU events apart, most time first, then by name. The
// paper groups by name: time of a call that waited and time of one that did not are one line.
func PaperHotspots(g *graph.Graph, p *Path) (cpu, gpu []PaperHotspot) {
	type key struct{ name, category string }
	at := map[key]int{}
	for _, h := range Hotspots(g, p) {
		kind := g.Trace.Events[h.Event].Kind
		list, k := &cpu, key{h.Name, paperCategories[kind]}
		if kind.Device() {
			list = &gpu
		}
		i, known := at[k]
		if !known {
			i = len(*list)
			at[k] = i
			*list = append(*list, PaperHotspot{Name: h.Name, Category: k.category})
		}
		line := &(*list)[i]
		line.Calls, line.NS = line.Calls+h.Calls, line.NS+h.NS
	}
	window := p.Window.End - p.Window.Start
	for _, list := range [][]PaperHotspot{cpu, gpu} {
		for i := range list {
			if h := &list[i]; p.Covered > 0 && window > 0 {
				h.OfPath, h.OfMakespan = float64(h.NS)/float64(p.Covered), float64(h.NS)/float64(window)
			}
		}
		slices.SortFunc(list, func(a, b PaperHotspot) int {
			return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Category, b.Category))
		})
	}
	return cpu, gpu
}

// CPCR is the share of the window that the events on the path cover, once (critical path coverage ratio).
func (p *Path) CPCR() float64 {
	if p.Window.End <= p.Window.Start {
		return 0
	}
	return float64(p.Covered) / float64(p.Window.End-p.Window.Start)
}
