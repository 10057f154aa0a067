package cdg

import (
	"sort"

	"overlay/internal/trace"
)

// Deps is the event-level half of the graph: activities in their lanes, and for each activity what released it.
//
// Invariants (Check): First is non-decreasing and First[len(Acts)] == len(In); the sources of an activity are sorted
// by (Rule, From); ActOf and Acts[].Event are inverse; program order is not stored, it follows from the lanes.
type Deps struct {
	Lanes []Lane
	Acts  []Act
	ActOf []ActID // per event of the trace; NoAct for events that are no activity
	First []int32 // CSR: the sources of activity a are In[First[a]:First[a+1]]
	In    []Dep
	Cal   Calibration

	Parent     []ActID    // slice of the thread that was open when a slice started, NoAct at the top and for operations
	Pieces     []Piece    // threads flattened: at every instant the slice that started last owns the thread
	PieceFirst []int32    // CSR: the pieces of a lane are Pieces[PieceFirst[lane]:PieceFirst[lane+1]]
	Partners   [][]LaneID // per thread lane: the threads it takes turns with, ascending (rule 7, condition 3)

	byEnd      []ActID // operations by end
	graph      []bool  // per act: launched by a graph launch
	threads    []threadInfo
	mode       ThreadMode
	marker     []bool // per act
	loaderWait []bool // per act; nil where hand-offs are switched off
	blocking   []bool // per act; nil unless mode is ThreadsExplicit
	lonely     bool   // at most one thread blocks: whom it waits for is not recorded as such
}

// Calibration holds the delays measured on the trace itself, ns, with the number of samples behind each.
type Calibration struct {
	Lmin, Lmax       int64 // launch call's start to operation's start
	Kmin, Kmax       int64 // operation's end to the next operation's start on a stream
	Wmin, Wmax       int64 // operation's end to the start of an operation on another stream that waited for it
	SyncMin, SyncMax int64 // operation's end to the end of a call that waited for it
	LaunchSamples    int
	KernelSamples    int
	WaitSamples      int
	SyncSamples      int
}

// Sources returns the stored dependencies of an activity.
func (d *Deps) Sources(a ActID) []Dep { return d.In[d.First[a]:d.First[a+1]] }

// InGraph reports whether an operation was launched together with others, by a graph launch.
func (d *Deps) InGraph(a ActID) bool { return d.graph[a] }

// LaunchMax is the longest time from the start of a launch call to its operation that the launch alone explains. A
// graph launch, whose latency is not calibrated, holds its operations back to the end of the call and longer.
func (d *Deps) LaunchMax(op, call ActID) int64 {
	if d.graph[op] {
		return max(2*d.Cal.Lmax, d.Acts[call].End-d.Acts[call].Start+d.Cal.Lmax)
	}
	return d.Cal.Lmax
}

// LastEnded returns the operation with the latest end in [from, to] that feeds a thread's process, or NoAct.
func (d *Deps) LastEnded(thread LaneID, from, to int64) ActID {
	n := sort.Search(len(d.byEnd), func(i int) bool { return d.Acts[d.byEnd[i]].End > to })
	for i := n - 1; i >= 0 && d.Acts[d.byEnd[i]].End >= from; i-- {
		g := d.byEnd[i]
		if h := d.Lanes[d.Acts[g].Lane].Host; (h == trace.NoProc || h == d.Lanes[thread].Proc) && d.Acts[g].Start < d.Acts[g].End {
			return g
		}
	}
	return NoAct
}
