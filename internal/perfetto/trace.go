// Package perfetto writes traces in Perfetto's protobuf format. It knows rows, slices, instants, counters and flows; it
// knows nothing of where they come from.
//
// Perfetto has no complete event: a slice is a BEGIN and an END, and an END closes whatever was opened last on its
// row. Two slices of one row that overlap without nesting therefore swap their ends, without any complaint. Write
// splits every row into lanes whose slices nest, and orders events of one time stamp so that nothing is swapped.
package perfetto

// Kind is what a track is.
type Kind uint8

// The kinds.
const (
	Row     Kind = iota // a row of slices, a group of rows, or both
	Process             // a process; its slices are process-wide
	Thread              // a thread of the process that is its parent
	Counter             // a row of values
)

// Track is one row. Fields that its kind does not use are ignored.
type Track struct {
	Kind        Kind
	Parent      int    // index of an earlier track, -1 for a root
	Name        string // as the viewer shows it
	Description string // shown in the popup of the row's name
	Order       int32  // place among its siblings, where the parent (or the root) orders by number
	Explicit    bool   // the children are ordered by Order; else by name
	Merge       bool   // rows of this name under one parent are drawn as one

	GPU *GPUTrack // what of a device the row shows, nil of none

	PID, TID int64    // Process: PID; Thread: both. Never 0: that is the idle process
	Labels   []string // Process

	Unit     string // Counter
	ShareKey string // Counter: rows with one key share their y axis

	Items  []Item                          // slices and instants; Write sorts them
	Fill   func() func(b *Body, ref int32) // what it returns describes items, for one goroutine; asked for several times
	Points []Point                         // values of a Counter, by time
}

// GPUTrack ties a row to a device, for viewers that group by those (GpuTrackDescriptor).
type GPUTrack struct {
	ID     int32
	Stream int64 // the logical queue; below 0 for the whole device
}

// Item is a slice or an instant of a track. Slices that start and end together nest by Rank, then by Ref, outside in.
type Item struct {
	Start, Dur int64 // ns, >= 0
	Ref        int32 // handed to Fill
	Rank       uint8
	Instant    bool // Dur is 0
}

// Point is one value of a counter: Int when IsInt, else Float.
type Point struct {
	TS    int64
	Int   int64
	Float float64
	IsInt bool
}

// Attr is a key and a value shown on the viewer's info page: Int, or Str when IsStr.
type Attr struct {
	Key   string
	Int   int64
	Str   string
	IsStr bool
}

// Trace is everything that Write writes.
type Trace struct {
	UUID        [2]uint64 // tells traces apart in the viewer's cache
	HasRealtime bool
	Realtime    int64 // Unix time of time stamp 0, ns, when HasRealtime
	Attrs       []Attr
	GPUs        []GPU    // the devices, by number; nil when they are not known
	Tracks      []Track  // parents before children
	Stages      *Stages  // nil for none
	Samples     *Samples // nil for none; of a trace that is written by itself

	Part int // number among the parts of a Stream; 0 for a trace that is written by itself

	before uint32 // sequences of the parts written before
}

// GPU is what the viewer's table of devices says of one (GpuInfo.Gpu). What is not known is "".
type GPU struct{ Name, Vendor, Model, Architecture string }

// Stats is what Write wrote.
type Stats struct {
	Slices   int
	Instants int
	Points   int // counter values
	Lanes    int // rows that had to be added for slices that do not nest
	Deep     int // slices moved to such a row because MaxDepth others were open
	Stages   int // operations in Stages
	Bytes    int64
}

// MaxDepth is how many slices may be open on one row; Perfetto drops what lies deeper (slice_tracker.cc, kMaxDepth).
const MaxDepth = 512
