package pipeline

import (
	"fmt"

	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Questions are what-if questions about a run.
type Questions struct {
	Scenarios []string // in the words of whatif.Selector.Scenario
	Best      int      // so many hotspots, each at half its time and at none
}

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
	asked, err := report.NewWhatIf(s, m.ReplayAll(list))
	if err != nil {
		return nil, err
	}
	asked.AddBest(m.ReplayAll(m.Best(r.path, q.Best, report.Readable)), r.path)
	return asked, nil
}
