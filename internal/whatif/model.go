// Package whatif replays a recorded run with something changed: when would everything have happened, how long would the
// window have been, and what would have bound it then?
//
// # Use
//
//	m := whatif.New(g)                      // once a graph
//	s, err := whatif.NewSelector(m, nil).Scenario("aten::copy_=0.5") // or a Scenario made in code
//	r := m.Replay(&s)                       // once a question, a few ms
//	r.Window, r.Saved(), r.Classes()        // cheap
//	moved, path, err := r.Path()            // the simulated run as a graph, and its critical path
//
// Nothing changes a Model after New, so replays may run side by side. Many questions at once are cheapest with ReplayAll,
// which shares them out among the processors.
//
// # Model
//
// The graph of waits gives each point of the recording (the start of an operation, a border between pieces of a thread)
// what it waited for. A point is replayed as the latest of: its sources plus a delay each, and, on a thread, the point
// before plus the thread's own time. Points are taken in the order of their recorded times, and everything leads forward
// in that order, so one pass is enough. The source that did bind keeps its recorded delay. A source that did not bind
// gets the delay that is typical of the trace, but at most what was observed. So a replay of nothing gives back every
// recorded time to the ns, and making anything shorter makes nothing later.
//
// Own time is what scales: self time of slices, durations of operations. Waits, launch latencies and hand-offs are
// results. Changes that ask for it (class:launch and the like) scale those delays as well.
//
// Times are int64 ns. The same graph and scenario give the same result on any number of processors.
package whatif

import (
	"sync"

	"overlay/internal/cdg"
	"overlay/internal/graph"
)

// Model is a graph made ready for replays: points in an order in which each follows from earlier ones.
type Model struct {
	g      *graph.Graph
	t0, t1 int64      // the window
	main   cdg.LaneID // the thread that the run is about

	// Per point. Point 0 is the origin of time: what happens whatever is changed counts from there.
	at      []int64 // recorded: of a border of a thread its time, of an operation its end
	prev    []int32 // the point before on the thread, or none
	cost    spans   // own time since prev, or duration of the operation
	depFrom []int32 // CSR: the sources of point i are deps[depFrom[i]:depFrom[i+1]]
	deps    []dep
	far     []int64     // delays of deps that they have no room for
	act     []cdg.ActID // the operation; NoAct for borders of threads

	parts     []part                       // own time of threads, in order of lanes and time: before the second point of a lane, then before the third …
	long      map[int32]int64              // of parts: how long those are that have no room to say so, ns
	partFirst []int32                      // CSR by lane
	class     func() []Class               // per activity; found when first asked for
	opClass   func() []Class               // the same of operations alone, from firstOp on
	own       func() *spans                // per activity of a thread: own time; found when first asked for
	moments   func() *moments              // of threads; found when first asked for
	delayed   [len(quantiles)]func() *plan // sources with other delays; found when first asked for
	returning func() []back                // slices that end where threads waited for operations; found when first asked for
	asks      bool                         // some source may be onRequest
	gaps      []gap                        // own time in gaps of threads, by point
	idle      []gap                        // the same of gaps in which they waited for work
	firstOp   cdg.ActID                    // streams lie behind threads: all activities from here on are operations
	opPoint   []int32                      // per operation: its point, or none
	border    [][]int32                    // per thread lane: its points by recorded time
	beside    []beside
	puts      map[cdg.LaneID][]put
	ends      []end   // the window is over when the last of these is
	all       []int32 // points at which lanes end, those that run free included
	done      []int32 // of these, the ones of lanes that run free and were done with their work before the window was over

	nothing *plan // that changes nothing

	slots chan struct{} // of replays that are asked for a number
	mu    sync.Mutex
	spare []*Result // memory for them
}

// mostBrief is how many replays that are asked for a number run side by side: each needs a quarter of what the model does.
const mostBrief = 4

const none = int32(-1)

// dep is a source of a point: the point happens no earlier than lag after the source.
type dep struct {
	src     int32
	lag     int32 // ns after the end of src; negative: before its end, but not before its start. With distant: an index into a table of lags
	wait    int32 // the wait that says so, an index into Graph.Waits; none where a call's meaning says so. With moving: an index into Model.beside
	rule    cdg.Rule
	kind    delayKind
	typical cdg.Lag // of a source that did not bind
	flag    uint8
}

const (
	bound     = 1 << iota // it was over last in the recording
	held                  // what a call or a launch would wait for, by its meaning
	scaled                // its delay was scaled by the scenario
	moving                // it is one of a thread beside, see beside
	onRequest             // a batch was asked for, see asking
	distant               // its lag has no room in it
	silent                // what it ends is shown as time of its own, as in the recording
)

// gap is how much of the own time before a point of a thread lies in gaps.
type gap struct {
	ns    int64
	point int32
}

// end is a point that the window waits for, and how much of the window comes after it.
type end struct {
	point int32
	after int64 // ns
}

// delayKind groups delays for those who scale them.
type delayKind uint8

const (
	fixedDelay delayKind = iota // happens when it happened
	launchDelay
	syncDelay
	handoffDelay
	unknownDelay // unexplained
	lostDelay    // the stream ran work that was not recorded
	gapDelay     // untraced time between slices: not a delay of a dep, but of parts
	numDelayKinds
)

// kindOf is the kind of the delay that a wait of a rule has.
func kindOf(r cdg.Rule) delayKind {
	switch {
	case r.Waits() == cdg.OperationWaits:
		return launchDelay
	case r.Waits() == cdg.SliceWaits:
		return syncDelay
	case r == cdg.Handoff:
		return handoffDelay
	case r == cdg.BeforeRecording:
		return gapDelay
	}
	return fixedDelay
}

// Graph returns the recorded graph.
func (m *Model) Graph() *graph.Graph { return m.g }
