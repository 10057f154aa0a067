package pipeline

import (
	"fmt"

	"overlay/internal/analyses"
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Questions are what-if questions about a run.
type Questions struct {
	Scenarios []string // in the words of whatif.Selector.Scenario
	Best      int      // so many hotspots, each at half its time and at none
	Draw      bool     // the first scenarios are going to be drawn
}

// maxGhosts is how many simulated runs are drawn.
const maxGhosts = 3

// WhatIf replays the run for each question. s says what is wanted of the report.
func (r *Run) WhatIf(q Questions, s report.Source) (*report.WhatIf, error) {
	r.o.stage("replaying")
	m := whatif.New(r.graph)
	find := whatif.NewSelector(m, report.Readable)
	var list []whatif.Scenario
	for _, text := range q.Scenarios {
		sc, err := find.Scenario(text)
		if err != nil {
			return nil, fmt.Errorf("what if: %w", err)
		}
		list = append(list, sc)
	}
	s.Graph, s.Path = r.graph, r.path
	results := m.ReplayAll(list)
	asked, err := report.NewWhatIf(s, results)
	if err != nil {
		return nil, err
	}
	for i := 0; q.Draw && i < min(len(results), maxGhosts); i++ {
		x, err := r.ghost(results[i])
		if err != nil {
			return nil, err
		}
		r.ghosts = append(r.ghosts, x)
	}
	asked.AddBest(m.ReplayAll(m.Best(r.path, q.Best, report.NamesOf(r.graph.Trace).Hotspot)), r.path)
	return asked, nil
}

// ghost is a simulated run as it is drawn.
func (r *Run) ghost(res *whatif.Result) (overlay.Ghost, error) {
	t := res.Times()
	g := res.Graph(t)
	p, err := critpath.Exact(g)
	if err != nil {
		return overlay.Ghost{}, err
	}
	x := overlay.Ghost{Name: res.Scenario.Name, Layout: g.Layout(), Path: p, Recorded: r.graph.Window}
	for _, l := range res.Ahead(t) {
		x.Ahead = append(x.Ahead, analyses.Point{TS: l.At, Value: float64(l.NS)})
	}
	return x, nil
}
