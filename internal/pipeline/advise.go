package pipeline

import (
	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Advise says what would make the run shorter. s says what is wanted of the report.
func (r *Run) Advise(s report.Source) *report.Advice {
	s.Graph, s.Path = r.graph, r.path
	r.o.stage("advice")
	if !r.Recorded {
		s.Advice = r.advise(whatif.New(r.graph))
	}
	return report.NewAdvice(s)
}

// advise gives nil for slim traces, which have no model: they lack what would bind instead of the path; and for a method
// with a window of its own, which does not speak of the graph's.
func (r *Run) advise(m *whatif.Model) *advise.Advice {
	g, p := r.graph, r.path
	if m == nil || p.Window.Start != g.Window.Start || p.Window.End != g.Window.End {
		return nil
	}
	if p.Method != "exact" {
		var err error
		if p, err = critpath.Exact(g); err != nil {
			return nil // an empty window
		}
	}
	return advise.New(m, p)
}
