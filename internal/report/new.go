package report

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/serving"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/verdict"
)

// New makes the report.
func New(s Source) *Report {
	tr, g, p := s.Graph.Trace, s.Graph, s.Path
	if s.Top <= 0 {
		s.Top = 10
	}
	w := p.Window
	r := &Report{Schema: Schema, Tool: Tool{"overlay", s.Version}, Method: p.Method, Threads: g.Threads.String(), Analyses: s.Analyses, Names: NamesOf(tr),
		Window: Window{w.Start, w.End, w.End - w.Start, w.Annotation, w.Instance, w.CarriedIn, 0, 0}}
	devices := par.Beside(func() {
		r.DeviceUse = deviceUse(g, w)
		r.Window.Before, r.Window.After = leftOut(tr, w)
	})
	hot := par.Beside(func() {
		all := critpath.Hotspots(g, p)
		r.hot = slices.Clone(all[:min(len(all), gainHotspots)])
		r.Hotspots = hotspots(g, all, s.Top, r.Names)
	})
	nodes := par.Beside(func() { r.CDG = graphOf(g, p, s.Brief && p.Method != "ctda") })
	r.Input = inputInfo(tr, s.Name)
	r.Input.Slim = s.Slim
	outline := critpath.OutlineOf(g, p)
	r.Path = pathOf(tr, p, outline.Strip, s.Segments)
	r.Unknown, r.Gaps = unknowns(g, outline.Gaps, r.Window.Duration, s.Top)
	r.bounds = verdict.BoundsOf(g.Graph.Layout, p)
	r.Steps = steps(g.Steps, withoutLead(outline.Steps, r.bounds.Lead()))
	r.StepTimes = stepTimes(r.Steps)
	r.Iterations = serving.Of(g, outline.Steps, r.earlier())
	nodes()
	hot()
	devices()
	r.Memory = s.Memory
	r.Quality = map[string]int{}
	maps.Copy(r.Quality, g.Quality)
	maps.Copy(r.Quality, p.Quality)
	if n := r.bounds.LaunchCalls(); n > 0 && !s.Slim {
		r.Quality[unseenLaunches] = n
	}
	c := &g.Delays
	r.Calibration = Calibration{c.Launch.Min, c.Kernel.Min, c.Event.Max, map[string]int{"launch": c.Launch.Samples, "kernel": c.Kernel.Samples, "event": c.Event.Samples, "sync": c.Sync.Samples}}
	r.Clock = ClocksOf(g.Clock)
	r.AddReplays(s)
	if p.Method == "ctda" {
		r.CTDA = ctdaTables(g, p, s.Top)
	}
	var total int64
	for _, b := range p.HTA {
		total += b.NS
	}
	for _, b := range p.HTA {
		r.HTA = append(r.HTA, HTAShare{b.Name, b.NS, tables.ShareOf(b.NS, total)})
	}
	return r
}

// AddReplays adds what was found by replays of the run: the advice, and what could be gained, if that is wanted.
func (r *Report) AddReplays(s Source) {
	r.Advice, r.Gains = s.Advice, gains(r, s)
	serving.Replay(r.Iterations, s.Model)
	v := r.bounds.Verdict(s.Advice.Replayed())
	r.Path.Says, r.Path.Without, r.Path.BoundBy = Plain(v.Words), v.Without, v.Class.String()
}

func inputInfo(tr *trace.Trace, name string) InputInfo {
	in := InputInfo{Name: filepath.Base(name), Bytes: tr.Source.Size(), Events: len(tr.Events), ByPhase: map[string]int{}, Repairs: map[string]int{}}
	counts := make([][256]int, par.Ranges(len(tr.Events), 1<<16))
	par.EachRange(len(tr.Events), len(counts), func(part, from, to int) {
		for i := from; i < to; i++ {
			counts[part][tr.Events[i].Ph]++
		}
	})
	count := counts[0]
	for _, more := range counts[1:] {
		for ph, n := range more {
			count[ph] += n
		}
	}
	for ph, n := range count {
		if n > 0 {
			letter := "none"
			if ph != 0 {
				letter = string(rune(ph))
			}
			in.ByPhase[letter] = n
		}
	}
	for _, r := range tr.Repairs {
		in.Repairs[r.Reason] = r.Count
	}
	return in
}

func pathOf(tr *trace.Trace, p *critpath.Path, strip []critpath.Piece, walk bool) Path {
	t := critpath.Breakdown(p)
	out := Path{Duration: p.Duration, CPCR: p.CPCR(), BoundBy: critpath.BoundBy(&t.Class).String(), Count: p.Segments.Len(),
		ByClass: classes(&t.Class), ByKind: map[string]int64{}, ByEvidence: map[string]int64{}}
	for k, ns := range t.Kind {
		if ns > 0 {
			out.ByKind[critpath.SegmentKind(k).String()] = ns
		}
	}
	for e, ns := range t.Evidence {
		if ns > 0 {
			out.ByEvidence[cdg.Evidence(e).String()] = ns
		}
		if cdg.Evidence(e).Inferred() {
			out.Inferred += ns
		}
	}
	row := rowNames(tr)
	for _, x := range t.Resource {
		out.ByResource = append(out.ByResource, Resource{row(x.Track), x.NS})
	}
	for _, s := range strip {
		out.Strip = append(out.Strip, Run{s.Start, s.End, s.Class.String()})
	}
	if walk {
		out.Segments, out.Edges = walkOf(tr, p)
	}
	return out
}

// rowNames returns what names a row: "thread 4242", "GPU 0 stream 7", with the pid where the trace has several processes.
func rowNames(tr *trace.Trace) func(trace.TrackID) string {
	host, several := trace.NoProc, false // the processes with threads
	for i := range tr.Tracks {
		if y := &tr.Tracks[i]; y.Class == trace.HostThread {
			several = several || host != trace.NoProc && host != y.Proc
			host = y.Proc
		}
	}
	return func(t trace.TrackID) string {
		if t == trace.NoTrack {
			return ""
		}
		x := &tr.Tracks[t]
		p := &tr.Procs[x.Proc]
		if x.Class == trace.DeviceStream {
			return fmt.Sprintf("GPU %d stream %d", p.Device, x.Stream)
		}
		name := "thread " + tr.TokenText(x.TID)
		if several || host != trace.NoProc && host != x.Proc {
			name += " of " + tr.TokenText(p.PID)
		}
		return name
	}
}

func position(id trace.EventID) *int32 {
	if id == trace.NoEvent {
		return nil
	}
	v := int32(id)
	return &v
}

func walkOf(tr *trace.Trace, p *critpath.Path) ([]Segment, []Edge) {
	segments, edges := []Segment{}, []Edge{}
	row := rowNames(tr)
	for _, s := range p.Segments.All() {
		name := s.Kind.String()
		if s.Event != trace.NoEvent {
			name = tr.Name(s.Event)
		}
		segments = append(segments, Segment{s.Start, s.End, s.Kind.String(), position(s.Event), name, row(s.Track), s.Evidence.String()})
	}
	side := func(end bool) string {
		if end {
			return "end"
		}
		return "start"
	}
	for _, e := range p.Edges.All() {
		edges = append(edges, Edge{position(e.From), side(e.FromEnd), position(e.To), side(e.ToEnd), e.Type.String(), e.Weight, e.Evidence.String(), e.Evidence.Inferred()})
	}
	return segments, edges
}

func graphOf(g *graph.Graph, p *critpath.Path, brief bool) CDG {
	out := CDG{Nodes: []Node{}, Edges: []NodeEdge{}, ByPhase: map[string]int64{}}
	events := 0
	for i := range g.Nodes {
		events += int(g.Nodes[i].Events)
		out.ByPhase[g.Nodes[i].Phase.String()] += g.Nodes[i].Busy
	}
	if len(g.Nodes) > 0 {
		out.Reduction = float64(events) / float64(len(g.Nodes))
	}
	if brief {
		return out
	}
	row := rowNames(g.Trace)
	critical := make([]int64, len(g.Nodes))
	for _, m := range p.Marks.All() {
		if n := g.NodeOf[m.Event]; n != nodes.None {
			critical[n] += m.NS
		}
	}
	out.Nodes, out.Edges = make([]Node, 0, len(g.Nodes)), make([]NodeEdge, 0, len(g.Edges))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		kind := "cpu"
		if n.GPU {
			kind = "gpu"
		}
		out.Nodes = append(out.Nodes, Node{i, kind, n.Phase.String(), row(g.Lanes[n.Lane].Track), n.Start, n.End, n.Busy, int(n.Events), critical[i]})
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, NodeEdge{int(e.From), int(e.To), e.Kind.String()})
	}
	return out
}

func ctdaTables(g *graph.Graph, p *critpath.Path, top int) *CTDA {
	cpu, gpu := critpath.PaperHotspots(g, p)
	lines := func(list []critpath.PaperHotspot) []CTDALine {
		out := []CTDALine{}
		for i, h := range list {
			if i == top {
				break
			}
			out = append(out, CTDALine{h.Name, h.Category, h.NS, h.OfPath, h.OfMakespan})
		}
		return out
	}
	nodes := []int{}
	for _, n := range p.Nodes {
		nodes = append(nodes, int(n))
	}
	return &CTDA{lines(cpu), lines(gpu), nodes}
}
