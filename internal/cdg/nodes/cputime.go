package nodes

import "overlay/internal/cdg"

// bound is the first piece of a node on its logical thread.
type bound struct {
	piece int32
	node  ID
}

// CPUTime calls visit for every piece of every logical thread with the node that it belongs to, in order of time
// within a thread. Pieces without length are left out.
func (s *Aggregated) CPUTime(g *cdg.Graph, visit func(ID, Piece)) {
	for i, lanes := range s.threads {
		bounds := s.bounds[i]
		if len(bounds) == 0 {
			continue
		}
		n := int32(0)
		eachPiece(g, lanes, func(p *Piece) bool {
			for len(bounds) > 1 && bounds[1].piece <= n {
				bounds = bounds[1:]
			}
			n++
			if p.Start < p.End {
				visit(bounds[0].node, *p)
			}
			return true
		})
	}
}
