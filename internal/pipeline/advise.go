package pipeline

import (
	"runtime/debug"

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
		s.Analyses = analyses.Run(s.Graph, r.path, []string{"roofline"}, r.o.Analysis)
	}
	return report.NewAdvice(s)
}

// Findings are what would make the run shorter, found once. There are none for slim traces, which lack what would bind instead of the
// path, for a method with a window of its own, which does not speak of the graph's, and when the run was drawn.
func (r *Run) Findings() *advise.Advice {
	if r.advice != nil || r.Recorded || r.graph == nil || r.path.Window.Start != r.graph.Window.Start || r.path.Window.End != r.graph.Window.End {
		return r.advice
	}
	p := r.path
	if p.Method != "exact" {
		var err error
		if p, err = critpath.Exact(r.graph); err != nil {
			return nil // an empty window
		}
	}
	r.advice = advise.Find(r.graph, p, r.replayed)
	return r.advice
}

// manyEvents is from how many events on the model is made when the causes are known, and not beside the path: both need room. That costs
// some 3 % of the time on two processors.
const manyEvents = 1 << 19

// replayed is the model of the run.
func (r *Run) replayed() *whatif.Model {
	if r.model == nil && len(r.Trace.Events) >= largeTrace {
		debug.FreeOSMemory() // else what rules left lies beside the model
	}
	r.beginModel(nil)
	return r.model()
}

// beginModel begins to make the model, unless that was done, when what comes before it is done; nil: at once. Whoever asks for
// it waits until it is there.
func (r *Run) beginModel(after func()) {
	if r.model != nil {
		return
	}
	g, m := r.graph, (*whatif.Model)(nil)
	wait := par.Beside(func() {
		if after != nil {
			after()
		}
		m = whatif.New(g)
	})
	r.model = func() *whatif.Model {
		wait()
		return m
	}
}
