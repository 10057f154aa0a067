package cdg

// BuildNodes makes the aggregated half of a graph again.
func BuildNodes(g *Graph) {
	findPhases(g, ruleSet{})
	buildNodes(g)
}
