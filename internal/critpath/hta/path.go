package hta

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// AsPath gives the peer's path in our terms: marks on exactly its events, its edges with types, sides and weights,
// and segments where an edge carries time. It leaves holes where the peer explains nothing.
func (g *Graph) AsPath() *critpath.Path {
	p := &critpath.Path{Method: "hta", Duration: g.Weight, Quality: map[string]int{"nodes": g.Used, "edges": len(g.Edges)}}
	p.Window = cdg.Window{Start: g.Nodes[g.PathNode[0]].TS, End: g.Nodes[g.PathNode[len(g.PathNode)-1]].TS, Annotation: g.opts.Annotation}
	for _, n := range g.Nodes {
		p.Window.Start, p.Window.End = min(p.Window.Start, n.TS), max(p.Window.End, n.TS)
	}
	at := p.Window.Start
	var segments []critpath.Segment
	edges := make([]critpath.Edge, 0, len(g.Path))
	for _, id := range g.Path {
		e := &g.Edges[id]
		from, to := g.Nodes[e.From], g.Nodes[e.To]
		edges = append(edges, critpath.Edge{From: from.Event, To: to.Event, FromEnd: from.End, ToEnd: to.End,
			Type: e.Type, Evidence: evidence[e.Type], Weight: e.Weight, Row: e.Type == critpath.KernelDelayEdge})
		if s, ok := g.segment(e, max(at, from.TS), to.TS); ok {
			segments = append(segments, s)
			p.Covered += s.End - s.Start
		}
		at = max(at, to.TS)
	}
	p.Segments, p.Edges, p.Marks = critpath.SegmentsOf(segments), critpath.EdgesOf(edges), critpath.MarksOf(g.marks(segments))
	p.HTA = g.Summary()
	return p
}

var evidence = [...]cdg.Evidence{critpath.OperatorEdge: cdg.ByProgram, critpath.DependencyEdge: cdg.ByProgram, critpath.LaunchDelayEdge: cdg.ByCorrelation,
	critpath.KernelDelayEdge: cdg.ByStream, critpath.SyncDependencyEdge: cdg.BySyncEvent}

// segment is the time that an edge carries; zero-weight edges carry none.
func (g *Graph) segment(e *Edge, start, end int64) (critpath.Segment, bool) {
	if e.GraphWeight <= 0 || end <= start {
		return critpath.Segment{}, false
	}
	s := critpath.Segment{Start: start, End: end, Event: e.Owner, Track: trace.NoTrack, Evidence: evidence[e.Type]}
	switch e.Type {
	case critpath.LaunchDelayEdge:
		s.Event, s.Kind = g.Nodes[e.To].Event, critpath.LaunchDelay
	case critpath.KernelDelayEdge:
		s.Event, s.Kind = g.Nodes[e.To].Event, critpath.KernelDelay
	default:
		s.Kind = g.kindOf(e.Owner)
	}
	if s.Event != trace.NoEvent {
		s.Track = g.in.tr.Events[s.Event].Track
	}
	if s.Kind.Class() == critpath.ClassLaunch {
		s.Event = trace.NoEvent // a gap belongs to no event
	}
	return s, true
}

func (g *Graph) kindOf(ev trace.EventID) critpath.SegmentKind {
	if ev == trace.NoEvent {
		return critpath.CPU
	}
	switch e := &g.in.tr.Events[ev]; e.Kind {
	case trace.Kernel:
		if isComm(short(g.in.tr.Syms[e.Name])) {
			return critpath.Comm
		}
		return critpath.Compute
	case trace.Memcpy:
		return critpath.Memcpy
	case trace.Memset:
		return critpath.Memset
	case trace.Runtime, trace.Driver:
		return critpath.RuntimeCall
	case trace.Python:
		return critpath.PythonFrame
	}
	return critpath.CPU
}

// marks lists the events of the path's nodes, exactly the peer's critical set, with the time that segments give them.
func (g *Graph) marks(segments []critpath.Segment) []critpath.Mark {
	ns := map[trace.EventID]int64{}
	for _, s := range segments {
		if s.Event != trace.NoEvent {
			ns[s.Event] += s.End - s.Start
		}
	}
	var order []trace.EventID // of events by their first node on the path
	id := map[trace.EventID]int32{}
	lastAt := map[trace.EventID]int{}
	for i, n := range g.PathNode {
		ev := g.Nodes[n].Event
		if _, ok := id[ev]; !ok {
			id[ev] = int32(i)
			order = append(order, ev)
		}
		lastAt[ev] = i
	}
	marks := make([]critpath.Mark, 0, len(order))
	for _, ev := range order {
		m := critpath.Mark{Event: ev, NS: ns[ev], ID: id[ev], Next: -1}
		if i := lastAt[ev] + 1; i < len(g.PathNode) {
			m.Next = id[g.Nodes[g.PathNode[i]].Event]
		}
		marks = append(marks, m)
	}
	slices.SortFunc(marks, func(a, b critpath.Mark) int { return int(a.Event) - int(b.Event) })
	return marks
}

// Summary is the peer's bound-by breakdown: time of the path's edges by what they are attributed to (summary).
func (g *Graph) Summary() []critpath.HTAShare {
	sum := map[string]int64{}
	for _, id := range g.Path {
		e := &g.Edges[id]
		switch e.Type {
		case critpath.KernelDelayEdge:
			sum["gpu_kernel_kernel_overhead"] += e.Weight
		case critpath.LaunchDelayEdge:
			sum["gpu_kernel_launch_overhead"] += e.Weight
		case critpath.OperatorEdge:
			sum[g.boundBy(e.Owner)] += e.Weight
		}
	}
	var out []critpath.HTAShare
	for _, name := range []string{"cpu_bound", "data_loading", "gpu_compute_bound", "gpu_communication_bound",
		"gpu_kernel_kernel_overhead", "gpu_kernel_launch_overhead"} {
		if ns, ok := sum[name]; ok {
			out = append(out, critpath.HTAShare{Name: name, NS: ns})
		}
	}
	return out
}

func (g *Graph) boundBy(ev trace.EventID) string {
	if ev == trace.NoEvent {
		return "cpu_bound"
	}
	r := &g.in.rows[g.in.at[ev]]
	name := short(g.in.tr.Syms[r.name])
	switch {
	case r.stream < 0 && slices.ContainsFunc(g.opts.DataLoad, func(d string) bool { return strings.Contains(name, d) }):
		return "data_loading"
	case r.stream < 0:
		return "cpu_bound"
	case isComm(name):
		return "gpu_communication_bound"
	}
	return "gpu_compute_bound"
}

func isComm(name string) bool {
	return strings.HasPrefix(name, "nccl") || strings.HasPrefix(name, "hip") || strings.HasPrefix(name, "hccl") || strings.Contains(name, "ncclKernel")
}

// short is the peer's shorten_name: template and call arguments removed, the last word kept.
func short(name string) string {
	if strings.HasPrefix(name, "Mem") || !strings.ContainsAny(name, "<(") {
		return name
	}
	var out []byte
	var open []byte
	for _, c := range []byte(strings.ReplaceAll(name, "->", "")) {
		switch c {
		case '<', '(':
			open = append(open, c)
		case '>', ')':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		default:
			if len(open) == 0 {
				out = append(out, c)
			}
		}
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return name
	}
	return words[len(words)-1]
}
