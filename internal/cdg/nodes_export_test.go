package cdg

import "overlay/internal/trace"

// BuildDeps makes the event-level half of a graph.
func BuildDeps(tr *trace.Trace, o Options) (*Graph, error) {
	b, g, err := lay(tr, &o)
	if err == nil {
		b.link(g)
	}
	return g, err
}

// BuildNodes makes the aggregated half of a graph again.
func BuildNodes(g *Graph) {
	findPhases(g, ruleSet{})
	buildNodes(g)
}
