package critpath

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Reason is the likely reason why a stretch of the path belongs to no event, read from what stands around it.
type Reason uint8

// The reasons. The first group is of time for which nothing explains why an operation had not started, the second of
// time in which the GPU ran what is not recorded, the third of gaps of threads.
const (
	NoReason          Reason = iota // nothing around it says why
	LaunchNotRecorded               // the operation has no recorded launch
	HostNotRecorded                 // the device alone was recorded: no launch, no other call, no thread
	EventNotRecorded                // it was made to wait for an event, and no recorded operation fits
	MemoryAllocated                 // memory was allocated between the launch before and its own: the device maps it first
	DeviceStoodStill                // all work had been queued, and no stream of the device ran anything: profilers do that to write

	QueuedBefore // work that had been launched before recording began
	RecordsLost  // launch calls have no operation: the profiler lost records of the device
	GraphLost    // a CUDA graph began with operations of which there are no records

	ProfilerAtWork   // an event of the profiler's own overhead covers most of it
	RecordingEnded   // before the synchronisation with which the profiler ends
	OtherDevice      // a device was busy whose events are drawn, not analysed
	DeviceRan        // threads without work while a device ran: nothing says for what they waited
	BeforeThread     // before the first event of a thread
	AfterThread      // after the last event of a thread
	EngineBetween    // the autograd engine between two nodes of backward
	CallsOnly        // of the process only calls were recorded, no operators
	PythonUnrecorded // host code between operators, in a trace without Python frames
	OutsidePython    // host code between events, in a trace with Python frames: of a thread that has none, or of no interpreter
	NumReasons
)

var reasonNames = [NumReasons]string{"unknown", "launch_not_recorded", "host_not_recorded", "event_not_recorded", "memory_allocated", "device_stood_still",
	"queued_before_recording", "records_lost", "graph_records_lost",
	"profiler_at_work", "recording_ended", "other_device", "device_ran", "before_thread", "after_thread", "autograd_engine", "calls_only", "python_not_recorded", "outside_python"}

func (r Reason) String() string { return reasonNames[r] }

// Gap is time of the path that no event owns, between two events: all stretches of a kind and a reason that have
// neighbours of the same names.
type Gap struct {
	Kind          SegmentKind // Unexplained, Untraced or GPUUnrecorded
	Reason        Reason
	Before, After trace.Sym // names of what stands before and after on its row, 0 where nothing does
	NS, Longest   int64
	Count         int
	At            int64 // where the longest starts
}

// gapKey is what stretches have in common that are one gap.
type gapKey struct {
	kind          SegmentKind
	reason        Reason
	before, after trace.Sym
}

// gapper takes segments in order of time and sums up what no event owns.
type gapper struct {
	reasoner
	at   map[gapKey]int
	gaps []Gap
}

func newGapper(g *graph.Graph) gapper {
	return gapper{reasoner: reasoner{g: g.Graph, tr: g.Trace}, at: map[gapKey]int{}}
}

func (r *gapper) add(s *Segment) {
	if s.Kind != Unexplained && s.Kind != Untraced && s.Kind != GPUUnrecorded {
		return
	}
	before, after, reason := r.read(s)
	k := gapKey{s.Kind, reason, r.name(before), r.name(after)}
	n, ok := r.at[k]
	if !ok {
		n = len(r.gaps)
		r.at[k] = n
		r.gaps = append(r.gaps, Gap{Kind: s.Kind, Reason: reason, Before: k.before, After: k.after})
	}
	x, ns := &r.gaps[n], s.End-s.Start
	x.NS += ns
	x.Count++
	if ns > x.Longest {
		x.Longest, x.At = ns, s.Start
	}
}

// done lists them, most time first. The parts of a kind sum to the time of that kind on the path.
func (r *gapper) done() []Gap {
	slices.SortStableFunc(r.gaps, func(x, y Gap) int { return cmp.Compare(y.NS, x.NS) })
	return r.gaps
}

// reasoner looks around gaps; what it knows of the whole trace is found when first asked for.
type reasoner struct {
	g  *cdg.Graph
	tr *trace.Trace

	overhead, other *[]cdg.Span  // of the profiler, and of devices that are not analysed
	python, ops     *bool        // the trace has frames, has operators
	lanes           []cdg.LaneID // by track
}

func (r *reasoner) name(a cdg.ActID) trace.Sym {
	if a == cdg.NoAct {
		return 0
	}
	return r.tr.Events[r.g.Acts[a].Event].Name
}

// read finds what stands before and after a segment on its row, and the likely reason for it.
func (r *reasoner) read(s *Segment) (before, after cdg.ActID, reason Reason) {
	lane := r.laneOf(s)
	if lane == cdg.NoLane {
		return cdg.NoAct, cdg.NoAct, NoReason
	}
	if r.g.Lanes[lane].Stream {
		k := r.startsAt(lane, s.End)
		if k == cdg.NoAct {
			return cdg.NoAct, cdg.NoAct, NoReason
		}
		before = r.endedLast(lane, k)
		return before, k, r.ofOperation(s, before, k)
	}
	before, after = r.around(lane, s.Start, s.End)
	return before, after, r.ofThread(s, lane, before, after)
}

// laneOf is the row of a segment; without a row of its own the operation after it says which.
func (r *reasoner) laneOf(s *Segment) cdg.LaneID {
	if s.Track == trace.NoTrack {
		return cdg.NoLane
	}
	if r.lanes == nil {
		r.lanes = slices.Repeat([]cdg.LaneID{cdg.NoLane}, len(r.tr.Tracks))
		for l := range r.g.Lanes {
			r.lanes[r.g.Lanes[l].Track] = cdg.LaneID(l)
		}
	}
	return r.lanes[s.Track]
}

// startsAt returns the first operation of a stream that starts at t.
func (r *reasoner) startsAt(lane cdg.LaneID, t int64) cdg.ActID {
	l := &r.g.Lanes[lane]
	acts := r.g.Acts[l.First:l.Limit]
	n, ok := slices.BinarySearchFunc(acts, t, func(a cdg.Act, t int64) int { return cmp.Compare(a.Start, t) })
	if !ok {
		return cdg.NoAct
	}
	for n+1 < len(acts) && acts[n+1].Start == t && acts[n].End == t { // one without length is passed over
		n++
	}
	return l.First + cdg.ActID(n)
}

// endedLast returns the operation of the stream before k that its start follows.
func (r *reasoner) endedLast(lane cdg.LaneID, k cdg.ActID) cdg.ActID {
	best := cdg.NoAct
	for a := k - 1; a >= r.g.Lanes[lane].First && a >= k-8; a-- {
		if best == cdg.NoAct || r.g.Acts[a].End > r.g.Acts[best].End {
			best = a
		}
	}
	return best
}

// around returns the outermost slices of a thread that end before a gap and begin after it.
func (r *reasoner) around(lane cdg.LaneID, from, to int64) (before, after cdg.ActID) {
	g := r.g
	before, after = cdg.NoAct, cdg.NoAct
	i := g.PieceAt(lane, to)
	first, limit := int(g.PieceFirst[lane]), int(g.PieceFirst[lane+1])
	if i < 0 {
		i = first - 1
	} else if j := i - 1; g.Pieces[i].Owner == cdg.NoAct && j >= first {
		before = g.Pieces[j].Owner
	}
	if j := i + 1; j < limit {
		after = g.Pieces[j].Owner
	}
	return r.outermost(before), r.outermost(after)
}

func (r *reasoner) outermost(a cdg.ActID) cdg.ActID {
	for a != cdg.NoAct && r.g.Parent[a] != cdg.NoAct {
		a = r.g.Parent[a]
	}
	return a
}
