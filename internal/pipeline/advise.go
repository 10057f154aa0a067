package pipeline

import (
	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/report"
)

// Advise says what would make the run shorter. s says what is wanted of the report.
func (r *Run) Advise(s report.Source) *report.Advice {
	s.Graph, s.Path, s.Advice = r.graph, r.path, r.advise()
	return report.NewAdvice(s)
}

// advise gives nil where a replay would mislead: a slim trace lacks what would bind instead of its path, and a method with
// a window of its own does not speak of the graph's.
func (r *Run) advise() *advise.Advice {
	g, p := r.graph, r.path
	if r.Recorded || p.Window.Start != g.Window.Start || p.Window.End != g.Window.End {
		return nil
	}
	r.o.stage("advice")
	if p.Method != "exact" {
		var err error
		if p, err = critpath.Exact(g); err != nil {
			return nil // an empty window
		}
	}
	return advise.New(g, p)
}
