package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/cdg/nodes"
	"overlay/internal/trace"
)

// SegmentKind is what a segment of the path is made of.
type SegmentKind uint8

// The kinds, in the order in which reports list them.
const (
	CPU SegmentKind = iota
	RuntimeCall
	PythonFrame
	Compute
	GPUUnrecorded // the stream ran work that is not recorded
	Comm
	Memcpy
	Memset
	LaunchDelay
	KernelDelay
	EventDelay
	SyncWait
	HandoffDelay
	Unexplained
	Untraced
	Unrecorded     // on a path over several ranks: before the trace of the rank begins
	MissingRank    // on such a path: a collective waits for a rank that has no trace
	IdleWorker     // a thread of a pool waited for work
	HostUnrecorded // an annotation, a step or a frame that waits has the time to itself: what the host did there is not recorded
	NumSegmentKinds
)

var kindNames = [NumSegmentKinds]string{"cpu", "runtime", "python", "compute", "gpu_unrecorded", "comm", "memcpy", "memset",
	"launch_delay", "kernel_delay", "event_delay", "sync", "handoff", "unexplained", "untraced", "unrecorded", "missing_rank", "idle", "host_unrecorded"}

func (k SegmentKind) String() string { return kindNames[k] }

var kindClass = [NumSegmentKinds]Class{ClassCPU, ClassCPU, ClassCPU, ClassCompute, ClassCompute, ClassComm, ClassCopy, ClassCopy,
	ClassLaunch, ClassLaunch, ClassLaunch, ClassSync, ClassHandoff, ClassUnexplained, ClassUntraced, ClassUntraced, ClassUntraced, ClassIdle, ClassCPU}

// Class of a segment kind.
func (k SegmentKind) Class() Class { return kindClass[k] }

// Segment is a piece of the path: time on one resource that belongs to one event, or to none.
type Segment struct {
	Start, End int64         // ns, Start < End
	Event      trace.EventID // owner, NoEvent for untraced time and hand-offs
	Track      trace.TrackID // resource
	Kind       SegmentKind
	Evidence   cdg.Evidence // how the step into this segment is known
}

// EdgeType is the type of a critical edge, in HTA's words where HTA has one.
type EdgeType uint8

// The types. The last two groups belong to the ctda and hta methods.
const (
	OperatorEdge EdgeType = iota
	DependencyEdge
	LaunchDelayEdge
	KernelDelayEdge
	SyncDependencyEdge
	EventWaitEdge
	QueueFullEdge
	HandoffEdge
	SequentialNodeEdge // ctda
	CallNodeEdge
	SyncNodeEdge
	CrossThreadNodeEdge
	NumEdgeTypes
)

var edgeNames = [NumEdgeTypes]string{"critical_path_operator", "critical_path_dependency", "critical_path_kernel_launch_delay",
	"critical_path_kernel_kernel_delay", "critical_path_sync_dependency", "critical_path_event_wait", "critical_path_queue_full",
	"critical_path_thread_handoff", "sequential", "call", "sync", "cross_thread"}

func (t EdgeType) String() string { return edgeNames[t] }

// Edge is one step of the path from one event to the next, in time order.
type Edge struct {
	From, To       trace.EventID
	Weight         int64 // ns
	FromEnd, ToEnd bool  // side of the event: its end, else its start
	Type           EdgeType
	Evidence       cdg.Evidence
	// Row says that both events are neighbours on one row (thread or stream): the first to go when arrows are limited.
	Row bool
}

// Mark is what the path says of one event.
type Mark struct {
	Event trace.EventID
	NS    int64 // time of the window attributed to the event itself, > 0 (exact)
	ID    int32 // index of its first segment on the path
	Next  int32 // ID of the event that the path enters when it leaves this one for the last time; -1 on the last
}

// Path is a critical path.
//
// Invariants for the exact method (testtrace/pathcheck): segments are sorted, disjoint, adjacent, and tile the window;
// edges go forward; the NS of the marks sum to the owned time.
type Path struct {
	Method   string // exact, ctda, hta
	Window   cdg.Window
	Segments Segments
	Edges    Edges
	Marks    Marks
	Duration int64 // ns: window (exact), effective time (ctda), weight (hta)
	Covered  int64 // ns of the window covered by owned segments, once: CPCR = Covered / window

	// Nodes of the aggregated graph on the path (ctda), in time order.
	Nodes []nodes.ID
	// HTA is the summary of HTA of what bounds the path (hta).
	HTA     []HTAShare
	Quality map[string]int // counts of what the method met: reasons to numbers

	// What mark has found out; nil: nobody has.
	total *Totals       // of the segments
	kinds []SegmentKind // per mark: the kind in which its event spends most of its time on the path
}

// HTAShare is a line of that summary, in the words of HTA.
type HTAShare struct {
	Name string // cpu_bound, data_loading, gpu_compute_bound, gpu_communication_bound, gpu_kernel_kernel_overhead, gpu_kernel_launch_overhead
	NS   int64
}

// ByResource is the time of the path on one thread or stream.
type ByResource struct {
	Track trace.TrackID
	NS    int64
}

// Totals is the time of the path by what it is made of, ns. For the exact method each field sums to the window.
type Totals struct {
	Class    [NumClasses]int64
	Kind     [NumSegmentKinds]int64
	Evidence [cdg.NumEvidence]int64
	Resource []ByResource // most time first, then by track
}
