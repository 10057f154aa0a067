package cdg

import (
	"cmp"
	"slices"
)

func (x *Inside) compare(lane LaneID, at int64) int {
	return cmp.Or(cmp.Compare(x.Lane, lane), cmp.Compare(x.At, at))
}

// Sources returns the waits of an activity, bound or not: of an operation those for its start, of a slice those for its
// end. A slice that waits for nothing but its own time has none.
func (g *Graph) Sources(a ActID) []Wait { return g.Waits[g.First[a]:g.First[a+1]] }

// Release returns what bound the start of an operation.
func (g *Graph) Release(op ActID) *Wait {
	row := g.Sources(op)
	for i := range row {
		if row[i].Bound {
			return &row[i]
		}
	}
	panic("cdg: internal error: an operation without a reason")
}

// WaitAt returns what a thread waited for until t, where piece is PieceAt(lane, t); nil when it was its own time that
// went by. There are answers for the borders of pieces and for the points of Inside.
func (g *Graph) WaitAt(lane LaneID, piece int, t int64) *Wait {
	next := piece + 1
	if piece < 0 {
		next = int(g.PieceFirst[lane])
	}
	id := NoWait
	if next < int(g.PieceFirst[lane+1]) && g.Pieces[next].Start == t {
		id = g.Pieces[next].Begun
	} else if g.waits(lane, piece) {
		i, ok := slices.BinarySearchFunc(g.Inside, t, func(x Inside, t int64) int { return x.compare(lane, t) })
		if !ok {
			panic("cdg: internal error: a point without a reason")
		}
		id = g.Inside[i].Wait
	}
	if id == NoWait {
		return nil
	}
	return &g.Waits[id]
}

// waits reports whether a thread may wait in a piece: before its first slice, in a gap, in a call, and in the self time
// of annotations and frames. Ops compute, but for those around the lost call of a copy.
func (g *Graph) waits(lane LaneID, piece int) bool {
	if piece < 0 || g.Pieces[piece].Owner == NoAct {
		return true
	}
	owner := g.Pieces[piece].Owner
	return g.flags[owner]&(factCall|factMarker) != 0 || g.copying[owner]
}

// blocks reports whether a slice is a call, or an op around a lost one.
func (y *Layout) blocks(a ActID) bool { return y.Call(a) || y.copying[a] }
