package cdg

import (
	"cmp"
	"slices"
)

// Wait is one reason of a point in time: of the start of an operation, of the end of a blocking call, or of the end of a
// piece of a thread, which is where the next piece begins. Who waits is given by where the wait is stored; the point is
// At + Lag.
//
// Every wait leads back in recorded time, or stays at the same instant, so the points in order of their recorded times
// can be computed one from the other (see TestForward).
type Wait struct {
	At       int64 // when the source was ready, ns; not after the point
	Lag      int64 // from then to the point, ns
	From     ActID // the source; of Handoff: what its thread did last before At; NoAct for Untraced and Unexplained
	Rule     Rule
	Evidence Evidence
	Bound    bool // it was over last: of the waits for one point at most one, of operations exactly one
	Note     Note
}

// Note says what is odd about a wait that bound.
type Note uint8

// The notes.
const (
	Explained   Note = iota
	Late             // the operation started long after this and everything else that is known had released it
	RecordsLost      // the same, and it opens a graph on an idle GPU: what ran before it was not recorded
	Idle             // a gap of a thread of a pool that waited for work: it goes on with what several threads of its process do
	Unrecorded       // its stream was busy with work that was not recorded
)

// WaitID is an index into Graph.Waits.
type WaitID int32

// NoWait stands for program order: a thread went on when its own time was over.
const NoWait WaitID = -1

// Inside is a point inside a piece of a thread that waits: something else comes from there, such as an operation whose
// launch call has no length, so the walk may get there.
type Inside struct {
	At   int64
	Lane LaneID
	Wait WaitID // NoWait: own time
}

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
