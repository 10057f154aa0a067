package analyses

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Type is what a device operation does.
type Type uint8

// The types, in the order that wins where several run at once.
const (
	Computation Type = iota
	CommunicationType
	Memory
	OtherType
	numTypes
)

var typeNames = [numTypes]string{"computation", "communication", "memory", "other"}

func (t Type) String() string { return typeNames[t] }

// Op is an operation of a device. Times are ns.
type Op struct {
	Start, End  int64
	Device      int64
	Stream      int64
	LaunchStart int64 // of the call that launched it; meaningless when Launch is NoEvent
	LaunchEnd   int64
	Event       trace.EventID
	Launch      trace.EventID
	Name        trace.Sym
	Type        Type
}

// Host is a slice of a CPU thread.
type Host struct {
	Start, End int64
	Event      trace.EventID
	Parent     int32 // index into Set.Host of the slice around it, -1 at the top
	Name       trace.Sym
	Kind       trace.Kind
	Depth      int32 // slices around it
}

// Set is the input of the analyses: the operations and host slices of one window.
//
// Invariants: Ops are sorted by (Device, Start, Event); Streams by (Device, Stream), the operations of each by
// (Start, Event); Host by (thread, Start), a parent before its children.
type Set struct {
	Trace   *trace.Trace
	Ops     []Op
	Streams []Stream
	Host    []Host
	Steps   []cdg.Step
	Start   int64 // of the window
	End     int64

	graph    *graph.Graph
	path     *critpath.Path
	critical []int64 // per event: ns on the path; nil without a path
	ofLaunch []int32 // operations by (Launch, Start): indexes into Ops, those without a launch left out
}

// Stream is one stream with its operations, indexes into Set.Ops.
type Stream struct {
	Device, Stream int64
	Ops            []int32
}

// newSet takes what starts inside the window.
func newSet(g *graph.Graph, p *critpath.Path) *Set {
	s := &Set{Trace: g.Trace, graph: g, path: p, Start: p.Window.Start, End: p.Window.End, Steps: g.Steps}
	s.critical = make([]int64, len(g.Trace.Events))
	for _, m := range p.Marks.All() {
		s.critical[m.Event] = m.NS
	}
	ops, host := 0, 0
	for i := range g.Lanes {
		if lane := &g.Lanes[i]; lane.Stream {
			ops += int(lane.Limit - lane.First)
		} else {
			host += int(lane.Limit - lane.First)
		}
	}
	if p.Window.Annotation == "" { // all of them start inside
		s.Ops, s.Host = make([]Op, 0, ops), make([]Host, 0, host)
	}
	s.takeOps(g)
	s.takeHost(g)
	s.index()
	return s
}

func (s *Set) inside(t int64) bool { return t >= s.Start && t <= s.End }

func (s *Set) takeOps(g *graph.Graph) {
	tr := g.Trace
	comm := tr.ByName(vendors.IsCollective)
	for i := range g.Lanes {
		lane := &g.Lanes[i]
		if !lane.Stream {
			continue
		}
		track := &tr.Tracks[lane.Track]
		for _, a := range g.Acts[lane.First:lane.Limit] {
			if !s.inside(a.Start) {
				continue
			}
			e := &tr.Events[a.Event]
			op := Op{Start: a.Start, End: a.End, Device: tr.Procs[track.Proc].Device, Stream: track.Stream, Event: a.Event,
				Launch: tr.Launch(a.Event), Name: e.Name, Type: typeOf(e.Kind, comm(e.Name))}
			if op.Launch != trace.NoEvent {
				l := &tr.Events[op.Launch]
				op.LaunchStart, op.LaunchEnd = l.Start, tr.End(l)
			}
			s.Ops = append(s.Ops, op)
		}
	}
}

func typeOf(k trace.Kind, comm bool) Type {
	switch {
	case k == trace.GraphNode:
		return OtherType
	case k != trace.Kernel:
		return Memory
	case comm:
		return CommunicationType
	}
	return Computation
}

func (s *Set) takeHost(g *graph.Graph) {
	d := g
	at := make([]int32, len(d.Acts))
	for i := range at {
		at[i] = -1
	}
	for i := range d.Lanes {
		lane := &d.Lanes[i]
		if lane.Stream {
			continue
		}
		for a := lane.First; a < lane.Limit; a++ {
			act := &d.Acts[a]
			if !s.inside(act.Start) {
				continue
			}
			h := Host{Start: act.Start, End: act.End, Event: act.Event, Parent: -1, Name: g.Trace.Events[act.Event].Name, Kind: g.Trace.Events[act.Event].Kind}
			if p := d.Parent[a]; p != cdg.NoAct && at[p] >= 0 {
				h.Parent = at[p]
				h.Depth = s.Host[at[p]].Depth + 1
			}
			at[a] = int32(len(s.Host))
			s.Host = append(s.Host, h)
		}
	}
}

// index sorts the operations and groups them by stream and by launch.
func (s *Set) index() {
	slices.SortFunc(s.Ops, func(a, b Op) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Start, b.Start), cmp.Compare(a.Event, b.Event))
	})
	type key struct{ device, stream int64 }
	at := map[key]int{}
	for i := range s.Ops {
		k := key{s.Ops[i].Device, s.Ops[i].Stream}
		n, ok := at[k]
		if !ok {
			n = len(s.Streams)
			at[k] = n
			s.Streams = append(s.Streams, Stream{Device: k.device, Stream: k.stream})
		}
		s.Streams[n].Ops = append(s.Streams[n].Ops, int32(i))
		if s.Ops[i].Launch != trace.NoEvent {
			s.ofLaunch = append(s.ofLaunch, int32(i))
		}
	}
	slices.SortFunc(s.Streams, func(a, b Stream) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream))
	})
	slices.SortStableFunc(s.ofLaunch, func(a, b int32) int { return cmp.Compare(s.Ops[a].Launch, s.Ops[b].Launch) })
}

// launched returns the operations of a launch, by start.
func (s *Set) launched(call trace.EventID) []int32 {
	lo, _ := slices.BinarySearchFunc(s.ofLaunch, call, func(o int32, c trace.EventID) int { return cmp.Compare(s.Ops[o].Launch, c) })
	hi := lo
	for hi < len(s.ofLaunch) && s.Ops[s.ofLaunch[hi]].Launch == call {
		hi++
	}
	return s.ofLaunch[lo:hi]
}

func (s *Set) criticalOf(e trace.EventID) int64 {
	if s.critical == nil {
		return 0
	}
	return s.critical[e]
}

// devices visits the operations of each device.
func (s *Set) devices(visit func(device int64, ops []Op)) {
	for i := 0; i < len(s.Ops); {
		j := i
		for j < len(s.Ops) && s.Ops[j].Device == s.Ops[i].Device {
			j++
		}
		visit(s.Ops[i].Device, s.Ops[i:j])
		i = j
	}
}
