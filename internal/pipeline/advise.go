package pipeline

import (
	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/critpath"
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
	if r.advice == nil && !r.Recorded {
		r.advice = r.advise()
	}
	return r.advice
}

// beginModel begins to make the model, unless that was done. Whoever asks for it waits until it is there.
func (r *Run) beginModel() {
	if r.model != nil {
		return
	}
	g, m := r.graph, (*whatif.Model)(nil)
	wait := par.Beside(func() { m = whatif.New(g) })
	r.model = func() *whatif.Model {
		wait()
		return m
	}
}

// advise gives nil for slim traces, which lack what would bind instead of the path; and for a method
// with a window of its own, which does not speak of the graph's.
func (r *Run) advise() *advise.Advice {
	g, p := r.graph, r.path
	if p.Window.Start != g.Window.Start || p.Window.End != g.Window.End {
		return nil
	}
	if p.Method != "exact" {
		var err error
		if p, err = critpath.Exact(g); err != nil {
			return nil // an empty window
		}
	}
	r.beginModel()
	return advise.Find(g, p, r.model)
}
