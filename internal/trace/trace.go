// Package trace is the model that every stage after reading works on: events, rows, symbols, links and typed args of one
// profiler trace, in no format. A package for an input format makes a Trace and a Source; nothing else sees its bytes.
//
// # Units
//
// Times are int64 ns on the trace's own clock. Ids are indexes into the slices of one Trace.
package trace

// EventID is the zero-based position of an event in the input's list of events (traceEvents in JSON). Every element of
// the list has one, broken and unknown elements included, so positions in reports and in the input are the same numbers.
type EventID int32

// NoEvent is the absent EventID.
const NoEvent EventID = -1

// Sym is an index into Trace.Syms; 0 is the empty string.
type Sym uint32

// TrackID is an index into Trace.Tracks, ProcID into Trace.Procs.
type (
	TrackID int32
	ProcID  int32
)

// NoTrack and NoProc are the absent ids.
const (
	NoTrack TrackID = -1
	NoProc  ProcID  = -1
)

// Flags of an event.
type Flags uint16

// The flags.
const (
	HasDur    Flags = 1 << iota // the event carries a dur
	HasCorr                     // Trace.Corr gives something
	HasExt                      // Trace.ExternalID gives something
	HasSeq                      // Trace.Sequence gives something
	Dirty                       // its text is broken: who copies text has to mend it
	ClampedTS                   // ts is 0 in a trace whose other events are far from it: "before the base", never part of an extent
	BindEnd                     // flow end with "bp":"e"
	Repaired                    // a value was mended; see Trace.Repairs
	Composed                    // Name is not what the input says; see Trace.WrittenName
	Moved                       // the row is not the operation's stream; see Trace.CUDAStream
	GraphOp                     // args hold a graph node id
	HasArgs                     // Trace.Args gives something
	HasFwd                      // args."Fwd thread id" is not 0
	wideDur                     // dur is an index into Trace.Wide
	wideCorr                    // and corr
	wideExt                     // and what stands in Trace.Ext

	launched = BindEnd // of a complete event: instead of its correlation corr has the call that launched it, see Trace.Launch
)

// Event is one element of the list of events. It holds no pointer, and is 32 bytes: a trace has millions.
type Event struct {
	Start int64  // ns on the trace's own clock; the time of stamp 0 is Trace.Base
	dur   uint32 // see Wide.Dur
	corr  int32  // see Trace.Corr
	Name  Sym
	Track TrackID
	Cat   uint16 // Sym of the category (category symbols come first in Syms)
	Flags Flags
	Kind  Kind
	Ph    byte // phase letter; 0 for an element that is no event
}

// Repair is something that was mended while reading.
type Repair struct {
	Reason string  `json:"reason"`
	Count  int     `json:"count"`
	First  []int64 `json:"first"` // byte offsets of the first few
}

// Recorder is a profiler, by the numbers that package vendors gives; 0 is PyTorch's own, and where nobody says.
type Recorder uint8

// Trace is one profiler trace. It is frozen: no later stage changes it.
//
// Invariants (testtrace/tracecheck): every id is in range; Dur >= 0; Syms[0] == ""; category symbols come before the others; Tracks and
// Procs are in order of first appearance in the input; len(Ext) == len(Events), if there is one.
type Trace struct {
	File   string // name for messages only
	Events []Event
	Wide           // what does not fit into an event
	Ext    []int32 // args."External id" per event, see ExternalID; nil when no event has one
	Syms   []string
	Tracks []Track
	Procs  []Process

	Base        int64 // Unix time in ns of time stamp 0 (baseTimeNanoseconds), when HasBase
	HasBase     bool
	Rank        int64            // of the process among those of its job (distributedInfo.rank), -1 when absent
	Distributed Distributed      // what else the trace says of that job
	DeviceNames map[int64]string // device number -> model
	Recorder    Recorder         // which profiler wrote it
	Attrs       map[string]Value // what an earlier run of this program noted about the trace, by its keys "overlay.…"
	Shapes      bool             // an event says the shapes of its inputs
	Marked      bool             // an event may have marks of an earlier overlay: an argument whose key begins with "critical"
	Truncated   bool             // the input ended early
	Repairs     []Repair         // sorted by reason

	LaunchByFlow bool // a trace without correlation: see Launch

	// GraphEdges are the dependencies inside of CUDA graphs that the profiler recorded, in the order of the input.
	GraphEdges []GraphEdge

	Origins *Origins // what captures recorded of replayed graphs; nil without any

	Source Source // what is read from the input on demand: args
	Lend   Lender // memory for what there is much of, see Room; nil: there is none beside the collector's
}

// Str returns the string of a symbol.
func (t *Trace) Str(s Sym) string { return t.Syms[s] }

// ByName answers a question of names by their symbols. Each name is looked at once, when it is first asked for. It is for one goroutine.
func (t *Trace) ByName(is func(name string) bool) func(Sym) bool {
	said := make([]int8, len(t.Syms)) // -1 no, 1 yes, 0 not asked
	return func(s Sym) bool {
		if said[s] == 0 {
			said[s] = -1
			if is(t.Syms[s]) {
				said[s] = 1
			}
		}
		return said[s] > 0
	}
}

// Name returns an event's name.
func (t *Trace) Name(id EventID) string { return t.Syms[t.Events[id].Name] }

// Category returns an event's category as written.
func (t *Trace) Category(id EventID) string { return t.Syms[t.Events[id].Cat] }

// ExternalID is the number that an operator shares with the calls and operations it led to (args."External id", or "external
// id"); 0 without the flag HasExt.
func (t *Trace) ExternalID(id EventID) int64 {
	if t.Ext == nil {
		return 0
	}
	return t.Wide.Ext(&t.Events[id], t.Ext[id])
}

// GraphEdge is a recorded dependency between two operations of one graph launch, with the flow events that say so.
type GraphEdge struct {
	From, To   EventID
	Start, End EventID // the flow's s and f
}

// Sequence is the number that autograd gave to an operator of forward and to those of its backward (args."Sequence number").
func (t *Trace) Sequence(id EventID) (n int32, ok bool) {
	if t.Events[id].Flags&HasSeq == 0 {
		return 0, false
	}
	v, ok := t.ArgInt(id, "Sequence number")
	return int32(v), ok
}

// WrittenName is the name that stands in the input. Name differs where it is the one that Kineto would have used: of copies and memsets
// whose kind stands in args, of frames of Python in what XLA writes, of steps that a program has marked in its own words.
func (t *Trace) WrittenName(id EventID) string {
	e := &t.Events[id]
	switch {
	case e.Flags&Composed == 0:
		return t.Syms[e.Name]
	case e.Kind == Memset:
		return "Memset"
	case e.Kind == Memcpy:
		return "Memcpy"
	}
	v, _ := t.Source.Member(id, "name")
	return v.Text
}

// CUDAStream is the stream on which an operation ran, where that is not the one of its row.
func (t *Trace) CUDAStream(id EventID) (int64, bool) {
	if t.Events[id].Flags&Moved == 0 {
		return 0, false
	}
	n, ok := t.ArgInt(id, "original_stream")
	return n, ok && n >= 0
}
