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
		s.Analyses = analyses.Run(s.Graph, r.path, []string{"roofline"}, r.o.Analysis)
	}
	return report.NewAdvice(s)
}

// Findings are what would make the run shorter, found once; nil where there is no advice. They take the graph of the run, which can be
// reported and drawn from then on, and nothing else.
func (r *Run) Findings() *advise.Advice {
	r.finder()()
	return r.advice
}

// finder returns what finds the advice, unless that was done. There is none for slim traces, which lack what would bind instead of the path,
// and for a method with a window of its own, which does not speak of the graph's. The graph is in its hands then: replays begin when nobody holds it any more.
func (r *Run) finder() (find func()) {
	if r.advice != nil || r.Recorded || r.graph == nil || r.path.Window.Start != r.graph.Window.Start || r.path.Window.End != r.graph.Window.End {
		return func() {}
	}
	g := r.take()
	return func() { r.advice = r.advise(g) }
}

// beginModel begins to make the model, unless that was done, when what comes before it is done; nil: at once. Whoever asks for
// it waits until it is there.
func (r *Run) beginModel(g *graph.Graph, after func()) {
	if r.model != nil {
		return
	}
	m := (*whatif.Model)(nil)
	wait := par.Beside(func() {
		if after != nil {
			after()
		}
		x := g
		g = nil // nobody but the model holds it, and it lets go of it as soon as it can
		m = whatif.Brief(x)
	})
	r.model = func() *whatif.Model {
		wait()
		return m
	}
}

func (r *Run) advise(g *graph.Graph) *advise.Advice {
	p := r.path
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
		debug.FreeOSMemory() // else what rules left lies beside the model
		m := whatif.Brief(x)
		r.model = func() *whatif.Model { return m }
		return m
	})
}

// manyEvents is from how many events on the model is made when its causes are known, and not beside the search for them:
// both need room, and the whole graph. That costs some 3 % of the time on two processors.
var manyEvents = 1 << 19

// oneByOne reports whether what needs the graph of a run is done one by one, for want of room.
func (r *Run) oneByOne() bool { return len(r.Trace.Events) >= manyEvents }
