package kineto

// EventID is the zero-based position of an event in the input's traceEvents array. Every element of the array
// has one, broken and unknown elements included, so positions in reports and in the input are the same numbers.
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

// Kind is what an event is, by its category (all generations of names, folded).
type Kind uint8

// The kinds. KindOther is the zero value: no category that Kineto writes.
const (
	KindOther     Kind = iota
	CPUOp              // cpu_op, Operator: aten ops, autograd nodes, c10d ops
	Annotation         // user_annotation: record_function, ProfilerStep#N, DataLoader
	Python             // python_function: frames, nn.Module calls, C functions
	Runtime            // cuda_runtime, xpu_runtime, mtia_runtime, privateuse1_runtime
	Driver             // cuda_driver, xpu_driver, privateuse1_driver
	Kernel             // device work: kernel
	Memcpy             // device work: gpu_memcpy
	Memset             // device work: gpu_memset
	GraphNode          // graph_event_node, graph_host_node: an operation of a CUDA graph that is neither kernel nor copy
	GPUAnnotation      // gpu_user_annotation: shadow of an annotation on a stream, never in the graph
	SyncRecord         // cuda_sync: host-timed record of a wait, drawn on a device row
	EventRecord        // cuda_event
	Overhead           // overhead: the profiler's own
	Span               // Trace: profiler spans
	DeviceOther        // mtia_ccp_events and other device rows that are drawn, not analysed
	NumKinds
)

// Host reports whether events of the kind run on a CPU thread.
func (k Kind) Host() bool { return k >= CPUOp && k <= Driver }

// Device reports whether events of the kind are operations of a GPU stream.
func (k Kind) Device() bool { return k >= Kernel && k <= GraphNode }

// Call reports whether events of the kind are runtime or driver calls.
func (k Kind) Call() bool { return k == Runtime || k == Driver }

// Flags of an event.
type Flags uint16

// The flags.
const (
	HasDur    Flags = 1 << iota // the event carries a dur
	HasCorr                     // Corr is set
	HasExt                      // Ext is set
	HasSeq                      // Seq is set
	Dirty                       // its bytes are not valid JSON; writers of Chrome JSON re-encode them (Trace.Clean)
	ClampedTS                   // ts is 0 in a trace whose other events are far from it: "before the base", never part of an extent
	BindEnd                     // flow end with "bp":"e"
	Repaired                    // a value was mended; see Trace.Repairs
	Composed                    // Name is not what the input says; see Trace.WrittenName
	Moved                       // the row is not the operation's stream; see Trace.CUDAStream
	GraphOp                     // args hold a graph node id
)

// Event is one element of traceEvents. It holds no pointer: a trace has millions.
type Event struct {
	Start int64  // ns: the decimal digits of ts (µs) times 1000, on the trace's own clock, without baseTimeNanoseconds
	Dur   int64  // ns, >= 0; 0 when absent
	Off   int64  // byte offset of the event's '{' in Trace.Src
	Corr  int64  // args.correlation; for flow and async events the integer id, or -1-Sym when the id is no integer
	Ext   int64  // args."External id" (or "external id")
	Len   uint32 // bytes of the event in Trace.Src, '{' to '}'
	Args  uint32 // offset of the args value from Off; 0 = no args
	Name  Sym
	Track TrackID
	Seq   int32  // args."Sequence number"
	Fwd   int32  // args."Fwd thread id"
	Cat   uint16 // Sym of the category (category symbols come first in Syms)
	Flags Flags
	Kind  Kind
	Ph    byte // phase letter; 0 for an element that is no event
}

// End is Start + Dur.
func (e *Event) End() int64 { return e.Start + e.Dur }

// Token is a pid or tid as written. Digit strings count as numbers, so "25738" and 25738 are one thread
// (Kineto of 2021 wrote both for one thread).
type Token struct {
	Raw   Sym   // JSON text as first seen: 7, -1, "stream 7"
	Num   int64 // value when IsNum
	IsNum bool
}

// TrackClass separates rows that share a pid and tid but mean different things. Host or device is decided by
// category, never by pid: in containers the training process has a pid that is also a device number.
type TrackClass uint8

// The classes.
const (
	OtherTrack      TrackClass = iota // events of unknown category
	HostThread                        // CPU thread
	DeviceStream                      // kernels, copies, memsets
	AnnotationTrack                   // gpu_user_annotation
	SyncTrack                         // cuda_sync, cuda_event
	SpanTrack                         // Trace spans
	OverheadTrack                     // overhead
	DeviceTrack                       // DeviceOther
)

// Track is one row: a CPU thread, a GPU stream, or a row of pseudo events.
type Track struct {
	Proc    ProcID
	Class   TrackClass
	TID     Token
	Name    string // from thread_name, "" when absent
	Stream  int64  // stream number of a DeviceStream (args.stream, else the tid); -1 otherwise
	Sort    int64  // thread_sort_index when HasSort
	HasSort bool
}

// Process is a host process or a device.
type Process struct {
	PID      Token
	Device   int64 // device number of a device process, -1 for a host process
	IsDevice bool
	Name     string // process_name
	Labels   string // process_labels
	Sort     int64
	HasSort  bool
}

// Field is a top-level key of the object form other than traceEvents, by its bytes.
type Field struct {
	Key   string
	Off   int64 // of the value in Src
	Len   int64
	Dirty bool // key or value are not valid JSON as written; see CleanField
}

// Repair is something that was mended while reading.
type Repair struct {
	Reason string  `json:"reason"`
	Count  int     `json:"count"`
	First  []int64 `json:"first"` // byte offsets of the first few
}

// Trace is a parsed trace. It is frozen: no later stage changes it.
//
// Invariants (Check): every id is in range; spans lie inside Src and do not overlap; Dur >= 0;
// Syms[0] == ""; Tracks and Procs are in order of first appearance in the file.
type Trace struct {
	File   string // name for messages only
	Src    []byte // the decompressed input; events and fields point into it
	Events []Event
	Syms   []string
	Tracks []Track
	Procs  []Process
	Fields []Field // top-level keys in file order, without traceEvents

	ArrayForm        bool  // top level is an array
	ListOff, ListEnd int64 // '[' of the event list, and its ']' (len(Src) when cut)
	Base             int64 // baseTimeNanoseconds; HasBase
	HasBase          bool
	Rank             int64            // distributedInfo.rank, -1 when absent
	DeviceNames      map[int64]string // deviceProperties id -> name
	Truncated        bool
	Mended           bool     // what stands around the events cannot be copied: it is not valid JSON, or holds a second list
	Repairs          []Repair // sorted by reason

	fracs   fraction  // how decimals of times are written
	metas   []EventID // M events, until rows are named
	foreign bool      // kinds come from processes, launches from flows

	// GraphEdges are the dependencies inside of CUDA graphs that the profiler recorded, in file order.
	GraphEdges []GraphEdge

	// Launch gives for each device operation the runtime or driver call with its correlation (in traces without
	// correlation the host slice in which its flow begins), else NoEvent.
	// len(Launch) == len(Events).
	Launch []EventID
}

// Str returns the string of a symbol.
func (t *Trace) Str(s Sym) string { return t.Syms[s] }

// Name returns an event's name.
func (t *Trace) Name(id EventID) string { return t.Syms[t.Events[id].Name] }

// Category returns an event's category as written.
func (t *Trace) Category(id EventID) string { return t.Syms[t.Events[id].Cat] }

// Raw returns the bytes of an event, from '{' to '}'. The caller must not change them.
func (t *Trace) Raw(id EventID) []byte {
	e := &t.Events[id]
	return t.Src[e.Off : e.Off+int64(e.Len)]
}
