package cdg

import (
	"overlay/internal/clock"
	"overlay/internal/trace"
)

// ActID is an index into Layout.Acts; LaneID into Layout.Lanes.
type (
	ActID  int32
	LaneID int32
)

// The absent ids.
const (
	NoAct  ActID  = -1
	NoLane LaneID = -1
)

// Rule says why one activity depends on another.
type Rule uint8

// The rules.
const (
	Program         Rule = iota // same thread, program order: what NoWait stands for
	StreamOrder                 // same stream, the earlier operation that ends last
	Launch                      // launch call -> operation
	EventWait                   // operation -> operation of another stream
	GraphOrder                  // operation -> operation of the same graph launch
	Sync                        // operation -> blocking call
	QueueFull                   // operation -> launch that found the queue full
	Handoff                     // thread -> thread
	PolledWait                  // operation -> slice that spins on memory
	BeforeRecording             // operation -> first slice of a thread: recording began inside a call that waited for it
	Untraced                    // a gap of a thread that nobody is known to have ended
	Unexplained                 // nothing is known that the start waited for
	NumRules
)

// Waiting is what it is that waits by a rule.
type Waiting uint8

// What waits.
const (
	NothingWaits   Waiting = iota
	OperationWaits         // an operation, to start
	SliceWaits             // a call, or a slice that spins, to end
	ThreadWaits            // a thread, to go on
)

// ruleTable is what everybody who reads a graph asks of a rule.
var ruleTable = [NumRules]struct {
	name  string
	waits Waiting
}{
	Program:         {"program", NothingWaits},
	StreamOrder:     {"stream_order", OperationWaits},
	Launch:          {"launch", OperationWaits},
	EventWait:       {"event_wait", OperationWaits},
	GraphOrder:      {"graph_order", OperationWaits},
	Sync:            {"sync", SliceWaits},
	QueueFull:       {"queue_full", SliceWaits},
	Handoff:         {"handoff", ThreadWaits},
	PolledWait:      {"polled_wait", SliceWaits},
	BeforeRecording: {"before_recording", ThreadWaits},
	Untraced:        {"untraced", NothingWaits},
	Unexplained:     {"unexplained", NothingWaits},
}

func (r Rule) String() string { return ruleTable[r].name }

// Waits is what waits by a rule.
func (r Rule) Waits() Waiting { return ruleTable[r].waits }

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
// Its activities are Layout.Acts[First:Limit] by start; what encloses comes before what it encloses.
type Lane struct {
	Track  trace.TrackID // its row; operations of a stream without a row of its own may lie on several
	Proc   trace.ProcID
	Host   trace.ProcID // process whose calls feed it; NoProc for a stream without a recorded launch
	Stream bool         // a GPU stream; else a CPU thread
	Number int64        // of a stream; -1 when unknown
	First  ActID
	Limit  ActID
}

// Window is the analysed interval, ns on the trace's own clock.
type Window struct {
	Start, End int64
	Annotation string // "" for the whole trace
	Instance   string // "0", "2:5"; "" for the whole trace
	CarriedIn  int    // operations launched before Start that still run inside
	Body       int64  // end of the annotation itself, which operations that it launched may outlast; 0 where that is not known
}

// Step is one ProfilerStep#N of the trace, or one iteration of a server.
type Step struct {
	Name       string // of an iteration its type and number: decode#3
	Event      trace.EventID
	Start, End int64           // [start of the step, start of the next (end of the last)]
	Number     int64           // that --step takes; -1 where the name has none that fits
	Of         trace.Iteration // of what type it is; NoIteration of a ProfilerStep without or with several
}

// Graph is the computation dependency graph of one window of a trace: for every start of an operation and every border
// between pieces of a thread it says what was waited for. Nothing that it says depends on who asks, or in which order.
type Graph struct {
	*Layout

	Pieces     []Piece // threads flattened: at every instant the slice that started last owns the thread
	PieceFirst []int32 // CSR: the pieces of a lane are Pieces[PieceFirst[lane]:PieceFirst[lane+1]]

	Waits  []Wait         // first those of activities, then those of threads
	First  []int32        // CSR: the waits of activity a are Waits[First[a]:First[a+1]], sorted by (Rule, From)
	Inside []Inside       // the same for times inside pieces, where something comes from; sorted by (Lane, At)
	Delays Delays         // measured on the trace, or on the whole that it is a part of
	Usual  [NumLags]Usual // measured on the trace, of what did bind

	HostCollectives []HostCollective // those that threads do, by start

	Partners [][]LaneID // per thread lane: the threads it takes turns with, ascending

	Held []Hold // launch calls that waited until an operation was over, for what is not known: not for a place in a queue that is full

	threads []threadFacts // per lane
	holds   []Hold

	Threads ThreadMode     // how hand-offs were read: ThreadsGIL or ThreadsExplicit
	Quality map[string]int // counts of what was met while building: reasons to numbers
}

// threadFacts is what is asked of a thread when the graph is made.
type threadFacts struct {
	launches       int   // calls
	busyTime       int64 // ns
	autograd, pins bool
}

// Launches returns how many calls of a thread launched operations.
func (g *Graph) Launches(lane LaneID) int { return g.threads[lane].launches }

// Autograd reports whether a thread is one of the autograd engine's: it runs nodes of the engine and carries no steps.
func (g *Graph) Autograd(lane LaneID) bool { return g.threads[lane].autograd }

// Pins reports whether a thread pins memory and launches nothing: it works for a data loader.
func (g *Graph) Pins(lane LaneID) bool {
	return g.threads[lane].pins && g.threads[lane].launches == 0
}

// Busy works out when a thread has ops or calls open, ascending; BusyTime is how long that is, ns.
func (g *Graph) Busy(lane LaneID) []Span {
	var busy []Span
	for l, a := &g.Lanes[lane], g.Lanes[lane].First; a < l.Limit && !l.Stream; a++ {
		if !g.Marker(a) {
			busy = cover(busy, Span{g.Acts[a].Start, g.Acts[a].End})
		}
	}
	return busy
}

// cover adds time that begins no earlier than all before to a union.
func cover(busy []Span, s Span) []Span {
	if n := len(busy); n > 0 && s.Start <= busy[n-1].End {
		busy[n-1].End = max(busy[n-1].End, s.End)
	} else if s.End > s.Start {
		busy = append(busy, s)
	}
	return busy
}

// BusyTime is the length of Busy.
func (g *Graph) BusyTime(lane LaneID) int64 { return g.threads[lane].busyTime }

// ThreadMode says how work passes from thread to thread.
type ThreadMode uint8

// The modes.
const (
	ThreadsAuto     ThreadMode = iota // decided from the trace
	ThreadsGIL                        // threads that alternate hand over to each other, by time stamps
	ThreadsExplicit                   // only flows, blocking frames and joins hand over (threads run without a GIL)
)

var threadModeNames = [...]string{"auto", "gil", "explicit"}

func (m ThreadMode) String() string { return threadModeNames[m] }

// Piece is time of a thread that belongs to one slice, its owner, or to none; it ends where the next piece of the
// thread starts. In this package and in those built on it a piece is always time with an owner, and a Span is time
// without one.
// The last piece of a thread has no owner and no end.
type Piece struct {
	Start int64  // ns
	Owner ActID  // NoAct in a gap
	Begun WaitID // what its thread waited for until it began; NoWait: for the piece before to be over
}

// Span is an interval of time, ns, that says nothing of who it belongs to. A Piece says that.
type Span struct{ Start, End int64 }

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

// WaitID is an index into Graph.Waits.
type WaitID int32

// NoWait stands for program order: a thread went on when its own time was over.
const NoWait WaitID = -1

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

// Inside is a point inside a piece of a thread that waits: something else comes from there, such as an operation whose
// launch call has no length, so the walk may get there.
type Inside struct {
	At   int64
	Lane LaneID
	Wait WaitID // NoWait: own time
}

// Hold says that a call does not return before an operation is over, by what the call means: whether the operation held
// it up in the recording, or was over long before.
type Hold struct{ Call, Op ActID }

// Layout is the part of a graph that drawing needs, and that may outlive the rest: where the activities of the window
// lie, in lanes and inside each other.
//
// Invariants: ActOf and Acts[].Event are inverse; a parent stands before its children.
type Layout struct {
	Trace  *trace.Trace // with the times of operations that Clock says
	Clock  []clock.Correction
	Window Window
	Steps  []Step

	Lanes  []Lane
	Acts   []Act
	ActOf  []ActID // per event of the trace; NoAct for events that are no activity
	Parent []ActID // slice of the thread that was open when a slice started, NoAct at the top and for operations

	flags   []actFlags     // per activity; phases read them while the rules run, so nothing is added after findFacts
	copying map[ActID]bool // ops that waited for a copy whose call is lost, found by the rules
}

// actFlags are what the rules and the walk ask about one activity. They are kept by activity and not by name, because the
// names of a trace may be replaced after the graph was built.
type actFlags uint8

const (
	factMarker actFlags = 1 << iota // an annotation or a frame: it says where its thread is, not that the thread works
	factCall                        // a runtime or driver call
	factLoader                      // a slice in which a data loader waits for a batch that is prepared elsewhere
)
