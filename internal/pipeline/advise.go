package pipeline

import (
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
	g := r.graph
	if r.o.Lean {
		r.graph = g.Bare()
	}
	return func() { r.advice = r.advise(g) }
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
		m = make(g)
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
	r.beginModel(g, nil) // where it was not begun beside the path
	return advise.Find(g, p, r.model)
}
