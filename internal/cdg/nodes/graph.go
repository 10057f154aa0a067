package nodes

import (
	"overlay/internal/cdg"
	"overlay/internal/cdg/phases"
	"overlay/internal/trace"
)

// ID is an index into Aggregated.Nodes.
type ID int32

// None is the absent node.
const None ID = -1

// Node is an aggregated node: activities with only sequential dependencies among them.
type Node struct {
	Start, End int64      // ns
	Busy       int64      // ns covered by its activities, once
	Lane       cdg.LaneID // the stream, or the thread of its first activity
	Events     int32

	First, Last trace.EventID // the activity that starts it (with Sync: the blocking call), and the one that ends last
	Launch      trace.EventID // CPU: its first call that launched an operation, else NoEvent
	GPU         bool
	Sync        bool // begins with a blocking call that waited
	Phase       phases.Phase
}

// EdgeKind is the kind of an edge between nodes.
type EdgeKind uint8

// The kinds.
const (
	SequentialEdge EdgeKind = iota
	CallEdge
	SyncEdge
	CrossThreadEdge
	NumEdgeKinds
)

var edgeNames = [NumEdgeKinds]string{"sequential", "call", "sync", "cross_thread"}

func (k EdgeKind) String() string { return edgeNames[k] }

// Edge is an edge between nodes.
type Edge struct {
	From, To ID
	Kind     EdgeKind
}

// Aggregated is the aggregated graph. It holds on to nothing of the graph that it was made from: who asks for times of
// threads brings that along.
type Aggregated struct {
	Nodes   []Node // in order of (Start, id)
	Edges   []Edge // sorted by (To, From), no duplicates, acyclic
	NodeOf  []ID   // per event of the trace; None for events outside
	LeftOut int    // edges left out because they would close a cycle

	threads [][]cdg.LaneID // logical threads: threads that take turns, see eachPiece
	bounds  [][]bound      // per logical thread: its nodes in order
}
