// Package vendors is the one place that knows makers of devices by name: how their part of the profiler names
// categories, calls, collectives, rows and devices. Other packages ask what a name means, and never for a vendor.
package vendors

import "overlay/internal/trace"

// Vendor is what one maker's devices look like in a trace. Every field may stay empty.
type Vendor struct {
	Name       string                  // as `overlay check` calls it
	Marks      Marks                   // how it knows the vendor
	Categories map[trace.Kind][]string // categories of events, in lower case
	Names      map[string]trace.Kind   // kinds by name, of events in its category Named
	Named      string
	Syncs      []string  // those of them that hold records of what waited for what
	SyncsAsked bool      // PyTorch's profiler writes them where it is asked to
	Calls      []Call    // what calls of its runtime and driver do
	Endings    []string  // of names of calls: variants that do the same
	Libraries  []Library // of collectives
	Processes  []Process // whose name says what lies on their rows
	Interface  int       // as Perfetto numbers programming interfaces (GpuApi); 0 where it has no number
	Devices    []string  // words before the number of a device: "GPU" of "GPU 0"
	Rows       []string  // further names of rows and processes
	Flows      []string  // categories and names of flow events, beside those of Kineto
	Words      string    // of which names of its calls are made; anonymising lets them pass
	Namespaces []string  // of kernels, left out where a name is shown in short
	Functors   []string  // patterns of what names the work of a kernel made from a template
	Wrappers   []string  // names that these patterns find and that only pass work on to another one
	Tails      []string  // patterns of the ends of kernels' names, of which a reader needs the group only
}

// Marks tell a vendor or a library: one of these categories, or a name with one of these starts.
type Marks struct {
	Categories []string
	Starts     []string
}

// Verb is what a runtime or driver call does. Where a name fits several, the first of this list holds.
type Verb uint8

// The verbs.
const (
	NoVerb       Verb = iota
	StreamSync        // waits for a stream
	DeviceSync        // waits for all streams
	EventSync         // waits for an event
	OtherSync         // waits for something else
	StreamWait        // makes a stream wait for an event
	EventRecord       // puts an event into a stream
	GraphLaunch       // launches a recorded graph of operations
	AsyncCopy         // copies and returns at once, unless a side is pageable
	BlockingCopy      // copies and returns when the copy is done
	Submit            // launches, and waits for the device while that has no room
	Free              // frees memory: waits for the device when it really frees
	Memset            // fills memory
	KernelLaunch      // launches one kernel
	OtherLaunch       // launches something else
	EventQuery        // asks whether an event has come
	Allocate          // allocates memory of the device
	NumVerbs
)

// Launches reports whether operations of a device come from such calls.
func (v Verb) Launches() bool {
	return v == GraphLaunch || v == AsyncCopy || v == BlockingCopy || v == Memset || v == KernelLaunch || v == OtherLaunch || v == Submit
}

// Blocks reports whether such calls wait by their nature.
func (v Verb) Blocks() bool { return v >= StreamSync && v <= OtherSync }

// Call is a form of names: whole names, or parts that all occur.
type Call struct {
	Verb  Verb
	Names []string
	Parts []string
}

// Library is a library of collectives.
type Library struct {
	Name    string // as people call it
	Marks   Marks
	Kernels string // what occurs in names of its kernels and in no others, in any case: words with | between; a letter before ? may be left out
	Kernel  string // pattern of what stands before the collective in the full name of a kernel
	Backend string // name of the backend of torch.distributed, as in "nccl:all_reduce"
	Threads string // start of the names of the threads of that backend
	NamedAs string // another library whose names its kernels have
}

// Process is a process that says what its events are, where they have no category that does.
type Process struct {
	PID, Name  string // its pid, if that is a text, or its name
	With       string // a process whose name starts so has to be there too
	Kind       trace.Kind
	DeviceBits int // low bits of the pid that hold the number of the device

	By     trace.Recorder // of the same, once it is known by another name than PyTorch
	Writer string         // of the traces in which there is one, as `overlay check` calls it
	Start  bool           // Name is the start of the name, and the number of the device follows
	Nested bool           // operations may enclose those that they are made of
	Row    string         // start of the names of its rows that are meant; the others are only drawn
	Calls  bool           // calls of a runtime or driver are among its events, known by their names
}
