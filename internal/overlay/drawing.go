package overlay

import (
	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/flame"
	"overlay/internal/trace"
)

// Mark is what is written on one input event.
type Mark struct {
	Event   trace.EventID
	ID      int32 // critical_id, -1 = not on the path
	NS      int64 // critical_ns, on the path
	TotalNS int64 // critical_total_ns, 0 = absent
	Next    int32 // critical_next, -1 = absent
	Node    int32 // cdg_node, -1 = absent
}

// Critical reports whether the event is on the path.
func (m *Mark) Critical() bool { return m.ID >= 0 }

// Arg is one typed argument of an added slice. Exactly one of Int and Str is meant, by IsStr.
type Arg struct {
	Key   string
	Int   int64
	Str   string
	IsStr bool
}

// Slice is an added slice. Slices of one track are sorted by (Start, longer first). Where they do not nest (nodes of
// parallel threads) the writers draw them on rows of their own.
type Slice struct {
	Start, Dur int64 // ns
	Name       string
	Color      string // Perfetto's correlation id string; "" = by name
	Args       []Arg
}

// Track is an added row. Parent is an index into Drawing.Tracks, -1 for a root. A track holds slices, counter points, or neither (a group).
type Track struct {
	Name        string
	Parent      int
	Description string
	Category    string // of its slices
	Slices      []Slice
	Maker       SliceMaker                // instead of Slices
	EventOf     func(i int) trace.EventID // the event whose time slice i is, NoEvent for nobody's, for one goroutine; nil where slices are not of events
	Ends        []ArrowEnd                // of arrows from slice to slice, by slice
	Counter     bool
	Unit        string
	Points      []analyses.Point
}

// ArrowEnd is an end of an arrow on an added slice. Ends with one ID are joined in order of time.
type ArrowEnd struct {
	Slice int32
	ID    uint32
}

// Arrow is one critical edge that is drawn, between two input events.
type Arrow struct {
	From, To       trace.EventID
	FromEnd, ToEnd bool
	Type           string
	Weight         int64 // ns
	Inferred       bool
}

// Attr is one overlay.* attribute of the trace.
type Attr struct {
	Key   string
	Int   int64
	Str   string
	IsStr bool
}

// Stacks is the path as samples of stacks, for viewers that add up a selection of them.
type Stacks struct {
	Graph *flame.Graph
	List  []flame.Sample // by time
}

// Drawing is everything that is drawn on a trace, in no format.
type Drawing struct {
	Marks      Marks
	Tracks     []Track // parents before children, in drawing order
	Arrows     []Arrow
	Attrs      []Attr
	Plain      bool // leave the colours of input slices alone
	GPUCompute bool // Perfetto: operations of devices also for the viewer's table of kernels
	Stacks     *Stacks
	Keep       []bool // per event: false leaves it out (slim traces, earlier overlays); nil keeps all

	LeftOut int // critical edges that could be arrows and are not

	Slim bool // only the path and its context are kept

	EarlierRemoved int        // events of an earlier overlay that are left out, and events that lose its marks
	places         cdg.Places // of operations of replayed graphs

	HasEarlierMarks bool // some input events may carry marks of an earlier overlay: args for which IsMark holds
}
