package pipeline

import (
	"overlay/internal/advise"
	"overlay/internal/analyses"
	"overlay/internal/critpath"
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
func (r *Run) Findings() *advise.Advice { return r.findings(nil) }

// findings is Findings. m is a model of its graph, or nil when nobody has made one.
func (r *Run) findings(m *whatif.Model) *advise.Advice {
	if r.advice == nil && !r.Recorded {
		if m == nil {
			r.o.stage("advice")
			m = whatif.New(r.graph)
		}
		r.advice = r.advise(m)
	}
	return r.advice
}

// advise gives nil for slim traces, which lack what would bind instead of the path; and for a method
// with a window of its own, which does not speak of the graph's.
func (r *Run) advise(m *whatif.Model) *advise.Advice {
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
	return advise.New(m, p)
}
