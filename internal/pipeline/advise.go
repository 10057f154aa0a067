package pipeline

import (
	"runtime/debug"

	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Advise says what would make the run shorter. s says what is wanted of the report.
func (r *Run) Advise(s report.Source) *report.Advice {
	s.Graph, s.Path = r.graph, r.path
	s.Advice = r.Findings()
	if s.Advice != nil {
		s.Analyses = analyses.Run(r.graph, r.path, []string{"roofline"}, r.o.Analysis)
	}
	return report.NewAdvice(s)
}

// Findings are what would make the run shorter, found once; nil where there is no advice.
func (r *Run) Findings() *advise.Advice {
	r.finder()()
	return r.advice
}

// finder returns what finds the advice, unless that was done. Of a lean run the graph is in its hands then: replays begin when
// nobody holds it any more.
func (r *Run) finder() (find func()) {
	if r.advice != nil || r.Recorded {
		return func() {}
	}
	g := r.letGo()
	return func() { r.advice = r.advise(g) }
}

// letGo returns the graph, of which a lean run keeps no more than it needs after its replays.
func (r *Run) letGo() *graph.Graph {
	g := r.graph
	switch {
	case r.o.Lean && r.o.Outline:
		r.graph = g.Outline()
	case r.o.Lean:
		r.graph = g.Bare()
	}
	return g
}

// beginModel begins to make the model, unless that was done, when what comes before it is done; nil: at once. Whoever asks for
// it waits until it is there.
func (r *Run) beginModel(g *graph.Graph, after func()) {
	if r.model != nil {
		return
	}
	m, make := (*whatif.Model)(nil), whatif.New
	if r.o.Lean {
		make = whatif.Brief
	}
	wait := par.Beside(func() {
		if after != nil {
			after()
		}
		x := g
		g = nil // nobody but the model holds it, and it lets go of it as soon as it can
		m = make(x)
	})
	r.model = func() *whatif.Model {
		wait()
		return m
	}
}

// advise gives nil for slim traces, which lack what would bind instead of the path; and for a method
// with a window of its own, which does not speak of the graph's.
func (r *Run) advise(g *graph.Graph) *advise.Advice {
	p := r.path
	if p.Window.Start != g.Window.Start || p.Window.End != g.Window.End {
		return nil
	}
	if p.Method != "exact" {
		var err error
		if p, err = critpath.Exact(g); err != nil {
			return nil // an empty window
		}
	}
	if r.model != nil || !r.oneByOne() {
		r.beginModel(g, nil) // where it was not begun beside the path
		return advise.Find(g, p, r.model)
	}
	return advise.Find(g, p, func() *whatif.Model {
		x := g
		g = nil
		if !r.o.Outline { // what is cut down to its path is linked again
			r.Trace.DropExternalIDs()
		}
		debug.FreeOSMemory() // else what rules left lies beside the model
		m := whatif.Brief(x)
		r.model = func() *whatif.Model { return m }
		return m
	})
}

// manyEvents is from how many events on a lean run makes the model when its causes are known, and not beside the search for them:
// both need room, and the whole graph. That costs some 3 % of the time on two processors.
var manyEvents = 1 << 19

// oneByOne reports whether what needs the graph of a run is done one by one, for want of room.
func (r *Run) oneByOne() bool { return r.o.Lean && len(r.Trace.Events) >= manyEvents }
