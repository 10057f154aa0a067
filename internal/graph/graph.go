// Package graph puts together what is found out about a trace before any path is: the dependencies of its events, their
// training phases, and the aggregated nodes made from both.
package graph

import (
	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/cdg/phases"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Graph is the whole graph of one window of a trace.
type Graph struct {
	*cdg.Graph
	*nodes.Aggregated
	Phases []phases.Phase // per event of the trace
}

// Layout is the part of a graph that drawing needs, and that may outlive the rest: where the activities lie, and in
// which aggregated nodes.
type Layout struct {
	*cdg.Layout
	*nodes.Aggregated
}

// Layout returns what drawing needs of a graph.
func (g *Graph) Layout() *Layout { return &Layout{g.Graph.Layout, g.Aggregated} }

// BuildEvents makes the level of events alone, which is enough for the exact path: no event has a phase, and there are no
// aggregated nodes. It fails only when the window cannot be found.
func BuildEvents(tr *trace.Trace, o cdg.Options) (*Graph, error) {
	g, err := cdg.Build(tr, o)
	if err != nil {
		return nil, err
	}
	return &Graph{Graph: g, Aggregated: &nodes.Aggregated{}}, nil
}

// Build makes the graph of one window of a trace. It fails only when the window cannot be found.
func Build(tr *trace.Trace, o cdg.Options) (*Graph, error) {
	y, link, err := cdg.LayOut(tr, o)
	if err != nil {
		return nil, err
	}
	g := &Graph{}
	found := par.Beside(func() { g.Phases = phases.Find(y) }) // they follow from names and nesting alone
	g.Graph = link()
	found()
	g.Aggregated = nodes.Aggregate(g.Graph, g.Phases)
	if g.LeftOut > 0 {
		g.Quality["cdg_edges_left_out"] = g.LeftOut
	}
	return g, nil
}
