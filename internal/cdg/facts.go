package cdg

import (
	"cmp"
	"sort"

	"overlay/internal/trace"
)

// facts are what was recorded, and what follows from it without a rule: calls, launches, streams, threads. Nothing of them
// changes while rules are applied.
type facts struct {
	tr      *trace.Trace
	o       *Options
	d       *Graph // what is built
	quality map[string]int

	clockGrain int64       // ns by which ends and starts that belong together may cross: 1 µs in traces of whole µs, else 1 ns
	calls      []callClass // per symbol: what a runtime or driver call of that name does
	firstOp    ActID       // streams lie behind threads: all activities from here on are operations
	oneDevice  bool        // all streams are of one device
	launch     []ActID     // per act: the call that launched the operation, or NoAct
	ofCall     []ActID     // per act: the last operation of the launch, or NoAct
	pred       []ActID     // per act: stream predecessor
	graph      []bool      // per act: launched together with others
	order      [][]ActID   // per stream lane: operations with a recorded launch, in launch order
	pos        []int32     // per act: index in order of its lane, -1
	byEnd      []ActID     // all operations by (End, Start, id)
	endsOf     [][]ActID   // per stream lane: its operations by end
	set        LaneSets    // streams and threads that belong together, see relateStreams
	orphans    orphanRuns

	threads   []threadInfo
	records   map[trace.ProcID][]ActID // cudaEventRecord calls per process, in time order
	waits     map[trace.ProcID][]ActID // cudaStreamWaitEvent calls per process, by start
	syncCalls []ActID                  // calls that wait for the GPU, thread by thread

	locks locks
	sync  syncRecords
	marks []trace.EventID // what devices recorded on the rows of streams
}

// class of an activity's name; plainCall for events that are no calls.
func (b *facts) class(a ActID) callClass {
	e := &b.tr.Events[b.d.Acts[a].Event]
	if e.Kind.Call() {
		return b.calls[e.Name]
	}
	return plainCall
}

func (b *facts) event(a ActID) *trace.Event { return &b.tr.Events[b.d.Acts[a].Event] }

// threadInfo is what hand-offs and waits need to know of a thread.
type threadInfo struct {
	busy      []Span // union of its ops and calls, ascending
	busyTime  int64
	launches  []ActID // calls that launched operations, in time order
	records   []ActID // cudaEventRecord calls, in time order
	ops       int     // ops, annotations and frames, or launches where calls are all that was recorded: a thread with other calls only is a watchdog
	autograd  bool    // runs autograd nodes and carries no steps, or is named pt_autograd_*
	pinMemory bool    // runs pin_memory ops
	blocks    bool    // has slices in which it waits for other threads (explicit mode)
}

// syncRecord is what a cuda_sync record says about the call with its correlation.
type syncRecord struct {
	stream     int64 // the stream that was synchronised or made to wait; -1 for all
	waitStream int64 // the stream of the event's record; -1 unknown, which is all that Cuspy writes
	recordCorr int64 // correlation of the cudaEventRecord; -1 unknown
	device     int64
}

// syncRecords joins cuda_sync records to calls.
type syncRecords struct {
	records   []trace.EventID         // those with a correlation
	of        map[ActID]syncRecord    // per call
	recordAt  map[corrKey]ActID       // the cudaEventRecord call of a correlation
	byStream  map[streamKey][]LaneID  // lanes of a stream number on a device
	stream    map[int64]int64         // the stream of a cudaEventRecord by its correlation, where the profiler recorded that
	byNumber  map[int64][]LaneID      // lanes of a stream number on any
	waitsUsed bool                    // some Stream Wait Event names its record
	devices   bool                    // some record names another device than 0, so the profiler tells them apart
	pending   map[LaneID][]pending    // per stream: what it was made to wait for, by what calls
	idle      map[streamKey][]pending // the same of streams without operations, which have no row, by process and number: of each call what ends last by then
	resolved  map[ActID]bool          // wait calls whose record names what was waited for
	joined    map[ActID]ActID         // per operation whose wait a record names: the source with the latest end
}

// pending is what a stream waits for from a wait call on, until an operation is put on it.
type pending struct{ wait, source ActID }

type corrKey struct {
	proc trace.ProcID
	corr int64
}

type streamKey struct{ device, stream int64 }

// orphanRuns finds ends in runs of operations without a recorded launch.
type orphanRuns struct {
	latest []int64 // per operation of a run: the latest end from the first of the run to it
	limit  []ActID // per first operation of a run: where the run is over
}

// streamOf returns the stream of the operations of a launch.
func (b *facts) streamOf(call ActID) LaneID {
	if a := b.ofCall[call]; a != NoAct {
		return b.d.Acts[a].Lane
	}
	return NoLane
}

const us = 1000 // ns

// enough samples to trust a quantile; below it the defaults stand.
const enough = 5

// callLess orders calls by their start; of calls that start together, in traces of whole µs, by correlation, which
// counts calls.
func (b *facts) callLess(x, y ActID) bool {
	ax, ay := &b.d.Acts[x], &b.d.Acts[y]
	if ax.Start != ay.Start {
		return ax.Start < ay.Start
	}
	return b.tr.Corr(b.event(x)) < b.tr.Corr(b.event(y))
}

// callOrder is callLess as a comparison.
func (b *facts) callOrder(x, y ActID) int {
	if b.callLess(x, y) {
		return -1
	}
	if b.callLess(y, x) {
		return 1
	}
	return cmp.Compare(x, y)
}

// sameProcess reports whether work of two lanes can depend on each other.
func (b *facts) sameProcess(x, y LaneID) bool {
	hx, hy := b.d.Lanes[x].Host, b.d.Lanes[y].Host
	return hx == hy || hx == trace.NoProc || hy == trace.NoProc
}

// endsIn returns the range of byEnd with from < end <= to.
func (b *facts) endsIn(from, to int64) (lo, hi int) {
	after := func(t int64) int {
		return sort.Search(len(b.byEnd), func(i int) bool { return b.d.Acts[b.byEnd[i]].End > t })
	}
	return after(from), after(to)
}

// argOr reads an id; absent, -1 and the raw 32-bit -1 are -1.
func (b *facts) argOr(id trace.EventID, key string) int64 {
	v, ok := b.tr.ArgInt(id, key)
	if !ok || v < 0 || v == 1<<32-1 {
		return -1
	}
	return v
}

func matchSyms(tr *trace.Trace, match func(string) bool) []bool {
	hit := make([]bool, len(tr.Syms))
	for i, s := range tr.Syms {
		hit[i] = match(s)
	}
	return hit
}

// isAct reports whether an event is an activity: a complete event of a CPU thread or a GPU stream.
// Events clamped to ts 0 happened at an unknown time before the base and are left out.
func isAct(e *trace.Event) bool {
	return e.Ph == 'X' && e.Track != trace.NoTrack && e.Flags&trace.ClampedTS == 0 && (e.Kind.Host() || e.Kind.Device())
}

// classifyCalls classifies each name once.
func (b *builder) classifyCalls() {
	b.calls = make([]callClass, len(b.tr.Syms))
	for i, name := range b.tr.Syms {
		b.calls[i] = classifyCall(name)
	}
}
