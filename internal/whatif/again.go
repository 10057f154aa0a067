package whatif

import "overlay/internal/graph"

// Again replays a run with one scenario after the other in the same memory: what it gave is over when it is asked again.
type Again struct {
	m    *Model
	r    Result
	then []int64
	room *room
}

// Again makes a model ready for such questions.
func (m *Model) Again() *Again { return &Again{m: m, room: m.room()} }

// Replay is Model.Replay.
func (a *Again) Replay(s *Scenario) *Result {
	a.r.replay(a.m, s)
	return &a.r
}

// Graph is the graph of the simulated run.
func (a *Again) Graph() *graph.Graph {
	t := a.r.times(a.then)
	a.then = t.then
	return a.r.graph(t, a.room)
}
