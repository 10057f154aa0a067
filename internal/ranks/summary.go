package ranks

import (
	"fmt"
	"math"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// Rank is the number of a process in its job.
type Rank int32

// NoRank is the absent rank.
const NoRank Rank = -1

// Name is an index into Summary.Names; 0 is the empty string.
type Name uint16

// Summary is all that Join needs of one rank, in a few bytes a collective. Times are on the rank's own clock.
//
// Invariants (Check): operations are sorted by start and lie in the window; there is a stub for each operation and one
// for the end of the window; a stub ends not after it starts, at an earlier operation, an earlier stub or the start of
// the window.
type Summary struct {
	Source string // name for messages
	Bytes  int64
	Events int
	Rank   Rank
	RankBy string // how the rank is known
	World  int32  // number of ranks, 0 when not said
	Host   string // "" when not said
	Device int32  // number on its host, -1 when not said

	Threads string // how hand-offs between its threads were read: gil or explicit

	Window [2]int64
	Groups []Group
	Kinds  []Kind // what operations are, each once
	Ops    []Op   // operations that communicate
	Stubs  []Stub // of Ops[i], and last that of the end of the window
	First  []int32
	Runs   []Run // of stub i: Runs[First[i]:First[i+1]], the latest first
	Steps  []Step
	Spent  []Spent // by step, most time first
	Given  []Given // by step, most time first
	Names  []string

	Chains Chains

	Quality map[string]int
}

// Group is a communicator as one rank knows it.
type Group struct {
	Name, Desc string
	Ranks      []Rank // ascending; nil when not known
	Size       int32  // 0 when not known
	By         string // args, config, stride, stream: where that was recorded
}

// Kind is what several operations of a rank have in common.
type Kind struct {
	Group   int32 // index into Summary.Groups
	Stream  int32
	Coll    Coll
	Dtype   string
	In, Out int64 // elements, -1 when not said
	Peer    Rank  // of point-to-point operations, else NoRank
	Sends   bool  // of those: to the peer
	Token   uint64
	Name    Name // of the kernel
}

// Op is one communication operation of a rank.
type Op struct {
	Start, End int64
	Launch     int64 // start of the call that launched it; where that is not recorded, of the one before it on its stream, or before the window
	Event      trace.EventID
	Kind       int32 // index into Summary.Kinds
	Seq        int32 // number in its group as recorded, -1
	Step       int32 // number of the profiler step of its launch, -1
}

// Stub is the exact walk back from the start of an operation, inside its rank. It is as long as its runs.
// In one number is with what it ends: -1 for the start of the window, else an operation, or -2 less a stub.
type Stub int32

// MakeStub makes a stub of what it ends with; ref is the operation or stub.
func MakeStub(end critpath.StubEnd, ref int32) Stub {
	switch end {
	case critpath.AtOperation:
		return Stub(ref)
	case critpath.AtStub:
		return Stub(-2 - ref)
	}
	return -1
}

// End is with what the stub ends, and which operation or stub that is, -1 for the start of the window.
func (s Stub) End() (end critpath.StubEnd, ref int32) {
	switch {
	case s >= 0:
		return critpath.AtOperation, int32(s)
	case s == -1:
		return critpath.AtStart, -1
	}
	return critpath.AtStub, int32(-2 - s)
}

// Run is a stretch of a stub. Small ones are added to their larger neighbour.
type Run struct {
	Dur   int64
	Event trace.EventID // the longest of it, trace.NoEvent where no event owns it
	Name  Name
	Kind  critpath.SegmentKind
}

// Step is a profiler step of a rank. Path is the rank's own path clipped to the step, by class. Busy is the work of the
// step wherever the path is: of the device without communication, and of threads without waiting.
type Step struct {
	Number     int32               // below 0 of iterations without one: -1 less the place in the trace
	Type       trace.IterationType // of the iterations of a server
	Start, End int64
	Path       [critpath.NumClasses]int64
	BusyGPU    int64
	BusyHost   int64
}

// Spent is the time of one name in one step.
type Spent struct {
	Step  int32 // index into Summary.Steps
	Calls int32
	Name  Name
	Host  bool  // time of threads, else of the device
	Path  int64 // on the rank's own path
	Busy  int64
	Most  int64 // the longest stretch of Busy
}

// Given is how much an operator was given to do in one step, and how long that took: how fast it went does not change it. It is of the device where the rank
// has one, else of threads. Amounts of different units do not compare.
type Given struct {
	Step   int32 // index into Summary.Steps
	Name   Name  // of the operator; of the kernel where no operator launched it
	Unit   Unit
	Amount int64
	Busy   int64 // ns
}

// Unit says what an Amount counts.
type Unit uint8

// The units.
const (
	Flops    Unit = iota // of products, by the shapes of their inputs
	Bytes                // that operators with a model move at least, by the shapes of their inputs
	Elements             // of the inputs of other operators
	Threads              // of kernels, by their grids: shapes were not recorded
	NumUnits
)

func (u Unit) String() string {
	return [NumUnits]string{"flops", "bytes", "elements", "threads"}[u]
}

// Check verifies the invariants.
func (s *Summary) Check() error {
	if len(s.Stubs) != len(s.Ops)+1 || len(s.First) != len(s.Stubs)+1 {
		return fmt.Errorf("ranks: %d stubs and %d borders of runs for %d operations", len(s.Stubs), len(s.First), len(s.Ops))
	}
	for i := range s.Ops {
		o := &s.Ops[i]
		if o.End < o.Start || i > 0 && o.Start < s.Ops[i-1].Start || int(o.Kind) >= len(s.Kinds) {
			return fmt.Errorf("ranks: operation %d: [%d, %d], kind %d", i, o.Start, o.End, o.Kind)
		}
	}
	for i := range s.Stubs {
		end, ref := s.Stubs[i].End()
		from, sum := s.from(int32(i)), int64(0)
		for _, r := range s.runs(int32(i)) {
			if sum += r.Dur; r.Dur <= 0 || sum <= 0 || sum > 1<<60 || int(r.Name) >= len(s.Names) {
				return fmt.Errorf("ranks: stub %d: run %+v", i, r)
			}
		}
		at, ok := from-sum, true
		switch end {
		case critpath.AtOperation:
			ok = int(ref) < len(s.Ops) && s.Ops[ref].Start < at
		case critpath.AtStub:
			ok = int(ref) < i && s.from(ref) >= at
		}
		if !ok {
			return fmt.Errorf("ranks: stub %d ends at %d with %d %d", i, at, end, ref)
		}
	}
	return s.checkChains()
}

// from is where a stub starts.
func (s *Summary) from(stub int32) int64 {
	if int(stub) < len(s.Ops) {
		return s.Ops[stub].Start
	}
	return s.Window[1]
}

// To is where a stub ends.
func (s *Summary) To(stub int32) int64 {
	at := s.from(stub)
	for _, r := range s.runs(stub) {
		at -= r.Dur
	}
	return at
}

// runs are the runs of a stub, the latest first.
func (s *Summary) runs(stub int32) []Run { return s.Runs[s.First[stub]:s.First[stub+1]] }

// names numbers strings; when there are too many, the rest is one name.
type names struct {
	list  []string
	index map[string]Name
}

func newNames() *names { return &names{[]string{""}, map[string]Name{"": 0}} }

func (n *names) of(s string) Name {
	if i, ok := n.index[s]; ok {
		return i
	}
	if len(n.list) == math.MaxUint16 {
		s = "others"
	}
	if i, ok := n.index[s]; ok {
		return i
	}
	i := Name(len(n.list))
	n.list = append(n.list, s)
	n.index[s] = i
	return i
}

// stepName is the name of the own time of steps: what no event of the trace is about, be it work, a pause or another process on the core.
var stepName = strings.TrimSuffix(trace.StepPrefix, "#")

// lostKernels is the reason under which launches of kernels are counted, in steps, of which no operation is recorded: it was lost, or it ran after the
// window.
const lostKernels = "kernels_not_recorded"
