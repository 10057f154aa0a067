package cdg

import "overlay/internal/trace"

// ActID is an index into Deps.Acts; LaneID into Deps.Lanes; NodeID into Graph.Nodes.
type (
	ActID  int32
	LaneID int32
	NodeID int32
)

// The absent ids.
const (
	NoAct  ActID  = -1
	NoLane LaneID = -1
	NoNode NodeID = -1
)

// Rule says why one activity depends on another.
type Rule uint8

// The rules.
const (
	Program     Rule = iota // same thread, program order (not stored: it follows from the lanes)
	StreamOrder             // same stream, the earlier operation that ends last
	Launch                  // launch call -> operation
	EventWait               // operation -> operation of another stream
	GraphOrder              // operation -> operation of the same graph launch
	Sync                    // operation -> blocking call
	QueueFull               // operation -> launch that found the queue full
	Handoff                 // thread -> thread
	PolledWait              // operation -> slice that spins on memory
	NumRules
)

// Evidence says how a dependency is known.
type Evidence uint8

// The kinds of evidence; API and Aligned are inferred.
const (
	ByProgram     Evidence = iota // order on a thread
	ByStream                      // order on a stream
	ByCorrelation                 // args.correlation
	BySyncEvent                   // a cuda_sync record
	ByGraph                       // same graph launch
	ByAPI                         // meaning of the call
	ByAlignment                   // from times alone
	ByNothing                     // unexplained or untraced time
	NumEvidence
)

var evidenceNames = [NumEvidence]string{"program", "stream", "correlation", "sync_event", "graph", "api", "aligned", "none"}

func (e Evidence) String() string { return evidenceNames[e] }

// Inferred reports whether the dependency was not recorded but concluded.
func (e Evidence) Inferred() bool { return e == ByAPI || e == ByAlignment }

// Act is an activity: a complete event on a CPU thread or a GPU stream. Times are the event's own, ns.
type Act struct {
	Start, End int64
	Event      trace.EventID
	Lane       LaneID
}

// Lane is a resource that runs activities: a CPU thread or a GPU stream.
// Its activities are Deps.Acts[First:Limit], in the order of analysis rule 1 (threads) or start order (streams).
type Lane struct {
	Track  trace.TrackID // its row; operations of a stream without a row of its own may lie on several
	Proc   trace.ProcID
	Host   trace.ProcID // process whose calls feed it; NoProc for a stream without a recorded launch
	Stream bool         // a GPU stream; else a CPU thread
	Number int64        // of a stream; -1 when unknown
	First  ActID
	Limit  ActID
}

// Dep is one incoming dependency of an activity.
type Dep struct {
	From     ActID
	Rule     Rule
	Evidence Evidence
}

// Window is the analysed interval, ns on the trace's own clock.
type Window struct {
	Start, End int64
	Annotation string // "" for the whole trace
	Instance   string // "0", "2:5"; "" for the whole trace
	CarriedIn  int    // operations launched before Start that still run inside
}

// Step is one ProfilerStep#N of the trace.
type Step struct {
	Name       string
	Event      trace.EventID
	Start, End int64 // [start of the step, start of the next (end of the last)]
}

// Phase is a training phase.
type Phase uint8

// The phases.
const (
	Other Phase = iota
	DataLoad
	Forward
	Loss
	Backward
	Communication
	Update
	NumPhases
)

var phaseNames = [NumPhases]string{"Other", "DataLoad", "Forward", "Loss", "Backward", "Communication", "Update"}

func (p Phase) String() string { return phaseNames[p] }

// Node is an aggregated node of the graph: a run of activities with only sequential dependencies among them.
type Node struct {
	GPU        bool
	Phase      Phase
	Lane       LaneID // the stream, or the thread of its first activity
	Start, End int64  // ns
	Busy       int64  // ns covered by its activities, once
	Events     int32
	Sync       bool // begins with a blocking call that waited

	First, Last trace.EventID // the activity that starts it (with Sync: the blocking call), and the one that ends last
	Launch      trace.EventID // CPU: its first call that launched an operation, else NoEvent
}

// NodeEdgeKind is the kind of an edge between aggregated nodes.
type NodeEdgeKind uint8

// The kinds.
const (
	SequentialEdge NodeEdgeKind = iota
	CallEdge
	SyncEdge
	CrossThreadEdge
	NumNodeEdgeKinds
)

var nodeEdgeNames = [NumNodeEdgeKinds]string{"sequential", "call", "sync", "cross_thread"}

func (k NodeEdgeKind) String() string { return nodeEdgeNames[k] }

// NodeEdge is an edge between aggregated nodes.
type NodeEdge struct {
	From, To NodeID
	Kind     NodeEdgeKind
}

// Graph is the computation dependency graph of one window of a trace.
type Graph struct {
	Trace   *trace.Trace
	Window  Window
	Steps   []Step
	Deps    *Deps       // event level
	Nodes   []Node      // aggregated, in order of (Start, id)
	Edges   []NodeEdge  // sorted by (To, From, Kind), no duplicates, acyclic
	NodeOf  []NodeID    // per event of the trace; NoNode for events outside
	Phases  []Phase     // per event of the trace
	PhaseBy []PhaseRule // per event of the trace: the rule behind its phase

	logical [][]LaneID // threads that take turns, see stretches
	bounds  [][]bound  // per logical thread: its nodes in order

	Threads ThreadMode     // how hand-offs were read: ThreadsGIL or ThreadsExplicit
	Quality map[string]int // counts of what was met while building: reasons to numbers
}

// Bare returns a graph of what it takes to draw: activities and nodes, without what released them. The rest is as large
// as the trace, and can go with the graph.
func (g *Graph) Bare() *Graph {
	b := *g
	b.Deps = &Deps{Lanes: g.Deps.Lanes, Acts: g.Deps.Acts, ActOf: g.Deps.ActOf, Parent: g.Deps.Parent, Cal: g.Deps.Cal}
	b.Phases, b.PhaseBy, b.logical, b.bounds = nil, nil, nil, nil
	return &b
}
