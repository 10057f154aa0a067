// Package slim cuts a trace down to its critical path and what it takes to find the same path again.
package slim

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// Cut leaves out what the path does not need (Drawing.Keep) and records in the attributes what cannot be measured on
// the rest. Of the input stay the events on the path, what encloses them, the launch call of each operation on the
// path, both ends of each critical edge, annotations, names of rows; and for the exact method whatever else it takes
// to find the same path again.
func Cut(g *graph.Graph, p *critpath.Path, drawing *overlay.Drawing) {
	s := &slimmer{g: g, keep: make([]bool, len(g.Trace.Events)), allowed: drawing.Keep, climbed: make([]bool, len(g.Acts))}
	s.path(p)
	rec := &cdg.Recorded{Window: g.Window, Delays: g.Delays}
	if p.Method == "exact" {
		s.untilSame(p, rec)
	}
	rec.Clock = g.Clock // the times of g are corrected already
	s.graphEdges()
	drawing.Keep = s.keep
	if before, _ := ReadRecord(g.Trace); before == nil { // else the attributes have been copied
		drawing.Attrs = append(drawing.Attrs, Attrs(rec)...)
	}
}

// Context leaves out what the path of a job does not need of the trace of one of its ranks: events on the path and the slices around
// them stay, as with Cut. The context that finds the path again does not: the path of a job cannot be found from one rank.
func Context(g *graph.Graph, p *critpath.Path, drawing *overlay.Drawing) {
	s := &slimmer{g: g, keep: make([]bool, len(g.Trace.Events)), allowed: drawing.Keep, climbed: make([]bool, len(g.Acts))}
	s.path(p)
	s.graphEdges()
	drawing.Keep = s.keep
}

type slimmer struct {
	g       *graph.Graph
	keep    []bool
	allowed []bool // per event: it may be kept; nil for everything

	climbed []bool        // per activity: what encloses it is kept
	events  []trace.Event // of what is kept, in the room of the try before
}

func (s *slimmer) event(id trace.EventID) {
	if s.allowed == nil || s.allowed[id] {
		s.keep[id] = true
	}
}

// around keeps an event and what encloses it on its thread.
func (s *slimmer) around(id trace.EventID) {
	d := s.g
	s.event(id)
	if a := d.ActOf[id]; a != cdg.NoAct {
		for ; a != cdg.NoAct && !s.climbed[a]; a = d.Parent[a] {
			s.climbed[a] = true
			s.event(d.Acts[a].Event)
		}
	}
}

// launched keeps an event, its launch call, and what encloses both.
func (s *slimmer) launched(id trace.EventID) {
	s.around(id)
	if l := s.g.Trace.Launch(id); l != trace.NoEvent {
		s.around(l)
	}
}

// path keeps what belongs to the path, and what tells how waits for GPU events are known: the calls that record and
// wait, and the profiler's records of them.
func (s *slimmer) path(p *critpath.Path) {
	tr := s.g.Trace
	waits := make([]bool, len(tr.Syms))
	for i, name := range tr.Syms {
		waits[i] = strings.Contains(name, "EventRecord") || strings.Contains(name, "WaitEvent")
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph == 'M' || e.Ph == 'X' && (e.Kind == trace.Annotation || e.Kind == trace.SyncRecord ||
			e.Kind == trace.EventRecord || e.Kind == trace.DeviceMark || e.Kind.Call() && waits[e.Name]) {
			s.event(trace.EventID(i))
		}
	}
	for _, m := range p.Marks.All() {
		s.launched(m.Event)
	}
	for _, e := range p.Edges.All() {
		for _, id := range []trace.EventID{e.From, e.To} {
			if id != trace.NoEvent {
				s.launched(id)
			}
		}
		if e.Type == critpath.EventWaitEdge {
			s.predecessor(e.To)
		}
	}
}

// graphEdges keeps the flows that record how operations of a graph depend on each other, where both stay.
func (s *slimmer) graphEdges() {
	for _, e := range s.g.Trace.GraphEdges {
		if s.keep[e.From] && s.keep[e.To] {
			s.event(e.Start)
			s.event(e.End)
		}
	}
}

// predecessor keeps the operation before one on its stream, with its launch call: the gap between the two is what an
// event wait explains.
func (s *slimmer) predecessor(id trace.EventID) {
	d := s.g
	if a := d.ActOf[id]; a != cdg.NoAct && a > d.Lanes[d.Acts[a].Lane].First {
		s.launched(d.Acts[a-1].Event)
	}
}

const (
	slimRounds = 6
	slimNear   = 50_000 // ns around a wrong segment, twice as much each round
)

// untilSame finds the path again on what is kept, and keeps more where segments or phases come out differently: what
// releases an operation, and what phase an op is in, is told from what ran near it, on the path or not.
func (s *slimmer) untilSame(p *critpath.Path, rec *cdg.Recorded) {
	near := int64(slimNear)
	for round := range slimRounds {
		wrong, phases := s.differences(p, rec)
		if len(wrong) == 0 && !phases {
			return
		}
		if phases {
			s.keepPhases()
		}
		if len(wrong) > 0 {
			s.keepNear(wrong, near, round)
		}
		near *= 2
	}
	for i := range s.g.Acts { // the whole input of the analysis always gives the same path
		s.event(s.g.Acts[i].Event)
	}
}

// keepPhases keeps the ops that nothing encloses, by which steps and threads are told apart.
func (s *slimmer) keepPhases() {
	for i := range s.g.Acts {
		if id := s.g.Acts[i].Event; s.g.Parent[i] == cdg.NoAct && s.g.Trace.Events[id].Kind == trace.CPUOp {
			s.event(id)
		}
	}
}

// keepNear keeps what ran close to segments: operations with their launch calls, from the second round on all calls,
// from the third on everything.
func (s *slimmer) keepNear(wrong []critpath.Segment, near int64, round int) {
	tr, d := s.g.Trace, s.g
	spans := unite(wrong, near)
	for i := range d.Acts {
		act := &d.Acts[i]
		if k := tr.Events[act.Event].Kind; s.keep[act.Event] || !(k.Device() || round > 0 && k.Call() || round > 1) {
			continue
		}
		at := sort.Search(len(spans), func(i int) bool { return spans[i].end >= act.Start })
		if at < len(spans) && spans[at].start <= act.End {
			s.event(act.Event)
			if l := tr.Launch(act.Event); l != trace.NoEvent {
				s.event(l)
			}
		}
	}
}

// timeSpan is a stretch of time, both ends included.
type timeSpan struct{ start, end int64 }

// unite returns the time less than near away from segments, as stretches that do not meet, in order.
func unite(segments []critpath.Segment, near int64) []timeSpan {
	spans := make([]timeSpan, len(segments))
	for i, w := range segments {
		spans[i] = timeSpan{w.Start - near, w.End + near}
	}
	slices.SortFunc(spans, func(a, b timeSpan) int { return cmp.Compare(a.start, b.start) })
	n := 0
	for _, s := range spans {
		if n > 0 && s.start <= spans[n-1].end {
			spans[n-1].end = max(spans[n-1].end, s.end)
			continue
		}
		spans[n] = s
		n++
	}
	return spans[:n]
}

// differences returns segments of p that are missing from the path of what is kept: of each run of them the latest,
// since the walk goes backward. It also reports whether the phase of an event on the path differs.
func (s *slimmer) differences(p *critpath.Path, rec *cdg.Recorded) (wrong []critpath.Segment, phases bool) {
	g, _, err := graph.Begin(s.restrict(), cdg.Options{Recorded: rec, Threads: s.g.Threads}) // neither asks for nodes
	if err != nil {
		panic("slim: internal error: " + err.Error()) // the recorded window needs no search
	}
	q, err := critpath.Exact(g)
	if err != nil {
		for _, seg := range p.Segments.All() {
			wrong = []critpath.Segment{*seg}
		}
		return wrong, false
	}
	for _, m := range p.Marks.All() {
		phases = phases || g.Phases[m.Event] != s.g.Phases[m.Event]
	}
	g = nil
	kept, k, n := q.Segments.Reader(), 0, q.Segments.Len()
	missed := false
	for _, seg := range p.Segments.All() {
		for k < n && kept(k).Start < seg.Start {
			k++
		}
		same := k < n && *kept(k) == *seg
		switch {
		case same:
		case missed:
			wrong[len(wrong)-1] = *seg
		default:
			wrong = append(wrong, *seg)
		}
		missed = !same
	}
	slices.Reverse(wrong)
	return wrong, phases
}

// restrict is a trace in which everything but the kept events is nothing; positions stay.
func (s *slimmer) restrict() *trace.Trace {
	tr, keep := s.g.Trace, s.keep
	if s.events == nil {
		s.events = trace.Room[trace.Event](tr.Lend, len(tr.Events))
	}
	out := *tr
	out.Events, out.Wide, out.Lend = s.events, slices.Clip(tr.Wide), nil // what is lent is not given back, and there may be more tries
	for i := range tr.Events {
		id := trace.EventID(i)
		switch l := tr.Launch(id); {
		case !keep[i]:
			out.Events[i] = trace.Event{Track: trace.NoTrack}
		case l != trace.NoEvent && !keep[l]:
			out.Events[i] = out.Unlaunched(tr, id)
		default:
			out.Events[i] = tr.Events[i]
		}
	}
	return &out
}
