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
	g, aggregate, err := Begin(tr, o)
	if err != nil {
		return nil, err
	}
	aggregate()
	g.CountLeftOut(g.Quality)
	return g, nil
}

// CountLeftOut adds the edges that the aggregated nodes leave out to what was counted of a graph or of a path in it.
func (g *Graph) CountLeftOut(quality map[string]int) {
	if g.LeftOut > 0 {
		quality["cdg_edges_left_out"] = g.LeftOut
	}
}

// Begin is Build for those who have work to do beside the aggregated nodes: aggregate makes them, once, and only Aggregated is
// not to be read until it is done. What they leave out is not counted. Begin fails only when the window cannot be found.
func Begin(tr *trace.Trace, o cdg.Options) (g *Graph, aggregate func(), err error) {
	y, link, err := cdg.LayOut(tr, o)
	if err != nil {
		return nil, nil, err
	}
	g = &Graph{Aggregated: &nodes.Aggregated{}}
	found := par.Beside(func() { g.Phases = phases.Find(y) }) // they follow from names and nesting alone
	g.Graph = link()
	found()
	return g, func() { *g.Aggregated = *nodes.Aggregate(g.Graph, g.Phases) }, nil
}
