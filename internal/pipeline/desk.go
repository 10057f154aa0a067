package pipeline

import (
	"fmt"
	"sync"

	"overlay/internal/report"
	"overlay/internal/whatif"
)

// Desk answers what-if questions about a run, one after the other, for as long as somebody has any.
type Desk struct {
	mu     sync.Mutex
	model  *whatif.Model
	find   *whatif.Selector
	source report.Source
}

// Desk makes a run ready for questions. It is asked for before the report, whose replays share its model. s says who asks.
func (r *Run) Desk(s report.Source) *Desk {
	m := whatif.New(r.graph)
	s.Graph, s.Path, s.Segments = r.graph, r.path, true
	r.model = func() *whatif.Model { return m }
	return &Desk{model: m, find: whatif.NewSelector(m, report.Readable), source: s}
}

// Ask replays the run with something changed, in the words of whatif.Selector.Scenario.
func (d *Desk) Ask(scenario string) (*report.WhatIf, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	sc, err := d.find.Scenario(scenario)
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	return report.NewWhatIf(d.source, d.model.ReplayAll([]whatif.Scenario{sc}))
}

// Knows reports whether a scenario means something in the run.
func (d *Desk) Knows(scenario string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, err := d.find.Scenario(scenario)
	return err == nil
}
