package cdg

// BuildNodes makes the aggregated half of a graph again.
func BuildNodes(g *Graph) { buildNodes(g) }
