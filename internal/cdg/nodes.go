package cdg

// buildNodes fills Nodes, Edges, NodeOf and Phases.
func buildNodes(g *Graph) {
	g.NodeOf = make([]NodeID, len(g.Trace.Events))
	for i := range g.NodeOf {
		g.NodeOf[i] = NoNode
	}
	g.Phases = make([]Phase, len(g.Trace.Events))
}
