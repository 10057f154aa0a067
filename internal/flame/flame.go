// Package flame adds up a critical path by stacks: which module, Python line and operator stand above each piece of it, as flame graphs
// show time. The weights of a graph sum to the length of its path, to the ns.
package flame

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// maxDepth is how many frames a stack has at most: what lies deeper is time of the last one. Without a bound, slices nested by the
// hundred thousand would take the square of it to write.
const maxDepth = 256

// Graph is a tree of frames. A parent stands before its children.
type Graph struct {
	frames []string // the names, each once
	nodes  []node
	before []int64 // of a difference: what node.ns is on its first side; nil: this is none
}

// node is a frame below another one.
type node struct {
	parent int32 // -1 at the top
	frame  int32
	depth  int32
	ns     int64 // of the path, with this frame innermost
	class  critpath.Class
}

// place is where a node is found.
type place struct{ parent, frame int32 }

// maker makes a graph. The node of a slice is looked for once.
type maker struct {
	Graph
	g      *graph.Graph
	index  map[place]int32
	byName map[string]int32
	bySym  []int32     // per symbol: 1 + its frame, or 0
	byAct  []int32     // per activity: 1 + its node, or 0
	up     []cdg.ActID // per activity: 1 + how far the slice around it lies behind NoAct, 0 before it is asked for
}

// Sample is a piece of the path with its stack.
type Sample struct {
	Start, NS int64
	Stack     int32 // for Graph.Stack
}

// Of makes the graph of a path. A GPU operation stands below what launched it. Time that no event owns, such as the latency of a launch,
// stands in brackets beside the next event of the path, which waited. Own time of an annotation stands in brackets below the annotation:
// the code that ran there was not recorded.
func Of(g *graph.Graph, p *critpath.Path) *Graph { return of(g, p, func(int32, critpath.Segment) {}) }

// samplePieces is into how many pieces a window is cut at most that is one segment: a selection of a part of it has that part.
const samplePieces = 1000

// Samples makes the graph of a path, and the path as samples in order of time: they tile its segments, which are cut where they are long.
func Samples(g *graph.Graph, p *critpath.Path) (*Graph, []Sample) {
	most := max((p.Window.End-p.Window.Start)/samplePieces, 1)
	list := make([]Sample, 0, p.Segments.Len())
	x := of(g, p, func(at int32, s critpath.Segment) {
		for ; s.Start < s.End; s.Start += most {
			list = append(list, Sample{s.Start, min(most, s.End-s.Start), at})
		}
	})
	return x, list
}

// of makes the graph of a path and visits its segments with their nodes.
func of(g *graph.Graph, p *critpath.Path, visit func(at int32, s critpath.Segment)) *Graph {
	m := maker{g: g, index: map[place]int32{}, byName: map[string]int32{}, bySym: make([]int32, len(g.Trace.Syms)), byAct: make([]int32, len(g.Acts)), up: make([]cdg.ActID, len(g.Acts))}
	var waits []critpath.Segment // since the last event of the path
	add := func(at int32, s critpath.Segment) {
		n := &m.nodes[at]
		n.ns, n.class = n.ns+s.End-s.Start, s.Kind.Class()
		visit(at, s)
	}
	settle := func(below int32) {
		for _, s := range waits {
			add(m.bracket(below, s.Kind.Class()), s)
		}
		waits = waits[:0]
	}
	for _, s := range p.Segments.All() {
		if !s.Owned() {
			waits = append(waits, *s)
			continue
		}
		at := m.of(g.ActOf[s.Event], s.Event)
		settle(m.nodes[at].parent)
		if s.Kind == critpath.HostUnrecorded {
			at = m.bracket(at, critpath.ClassUntraced)
		}
		add(at, *s)
	}
	settle(-1)
	return &m.Graph
}

// bracket is the node of time of a class that is nobody's, below another one.
func (m *maker) bracket(parent int32, class critpath.Class) int32 {
	name := class.Words()
	if class == critpath.ClassUntraced {
		name = "not recorded"
	}
	return m.below(parent, m.frame("["+name+"]"))
}

// of is the node of an event, which is an activity unless it is NoAct.
func (m *maker) of(a cdg.ActID, event trace.EventID) int32 {
	if a == cdg.NoAct {
		return m.below(-1, m.symbol(event))
	}
	// A thread's slices above this one are found on the way up, and get their nodes on the way down.
	var way []cdg.ActID
	node := int32(-1)
	for ; a != cdg.NoAct; a = m.above(a) {
		if known := m.byAct[a]; known != 0 {
			node = known - 1
			break
		}
		way = append(way, a)
	}
	if node < 0 && m.unlaunched(way[len(way)-1]) {
		node = m.below(-1, m.frame("[launch not recorded]"))
	}
	for i := len(way) - 1; i >= 0; i-- {
		node = m.below(node, m.symbol(m.g.Acts[way[i]].Event))
		m.byAct[way[i]] = node + 1
	}
	return node
}

// unlaunched reports whether an activity is an operation whose launch is not in the trace, as of those from before it began.
func (m *maker) unlaunched(a cdg.ActID) bool {
	event := m.g.Acts[a].Event
	return m.g.Trace.Events[event].Kind.Device() && m.g.Trace.Launch(event) == trace.NoEvent
}

// above is the slice around a slice, and of an operation the one around its launch. A slice that ends earlier is not around it: the annotation of a
// step begins in a call of the profiler and goes on when that has returned.
func (m *maker) above(a cdg.ActID) cdg.ActID {
	if e := &m.g.Trace.Events[m.g.Acts[a].Event]; e.Kind.Device() {
		call := m.g.Trace.Launch(m.g.Acts[a].Event)
		if call == trace.NoEvent || m.g.ActOf[call] == cdg.NoAct {
			return cdg.NoAct
		}
		a = m.g.ActOf[call]
	}
	return m.around(a)
}

// around is the slice around a slice of a thread. What lies between a slice and the one around it ends before both, so the way up is remembered.
func (m *maker) around(a cdg.ActID) cdg.ActID {
	if m.up[a] == 0 {
		x := m.g.Parent[a]
		for x != cdg.NoAct && m.g.Acts[x].End < m.g.Acts[a].End {
			x = m.around(x)
		}
		m.up[a] = x - cdg.NoAct + 1
	}
	return m.up[a] + cdg.NoAct - 1
}

// below is the node of a frame below another node.
func (m *maker) below(parent, frame int32) int32 {
	depth := int32(1)
	if parent >= 0 {
		if depth = m.nodes[parent].depth + 1; depth > maxDepth {
			return parent
		}
	}
	at, ok := m.index[place{parent, frame}]
	if !ok {
		at = int32(len(m.nodes))
		m.index[place{parent, frame}] = at
		m.nodes = append(m.nodes, node{parent: parent, frame: frame, depth: depth})
	}
	return at
}

// symbol is the frame of an event's name, as statistics group it: all steps are one frame.
func (m *maker) symbol(event trace.EventID) int32 {
	name := m.g.Trace.Events[event].Name
	if m.bySym[name] == 0 {
		m.bySym[name] = m.frame(critpath.NormalName(m.g.Trace.Str(name))) + 1
	}
	return m.bySym[name] - 1
}

func (m *maker) frame(name string) int32 {
	name = cmp.Or(strings.ToValidUTF8(name, "\uFFFD"), "[no name]") // all formats want UTF-8, and folded stacks something between two semicolons
	at, ok := m.byName[name]
	if !ok {
		at = int32(len(m.frames))
		m.byName[name] = at
		m.frames = append(m.frames, name)
	}
	return at
}

// Stacks visits the stacks that have time of their own, innermost frame last, as indices into Frames. before is their time on the first side
// of a difference. The list is valid until the next one.
func (x *Graph) Stacks(visit func(stack []int32, before, ns int64)) {
	var stack []int32
	for i := range x.nodes {
		before := int64(0)
		if x.before != nil {
			before = x.before[i]
		}
		if x.nodes[i].ns == 0 && before == 0 {
			continue
		}
		stack = x.Stack(int32(i), stack)
		visit(stack, before, x.nodes[i].ns)
	}
}

// Frames are the names of frames.
func (x *Graph) Frames() []string { return x.frames }

// Stack is the stack of a sample, innermost frame last, as indices into Frames. It takes the room of an earlier one.
func (x *Graph) Stack(of int32, room []int32) []int32 {
	room = slices.Grow(room[:0], maxDepth)[:x.nodes[of].depth]
	for at := of; at >= 0; at = x.nodes[at].parent {
		room[x.nodes[at].depth-1] = x.nodes[at].frame
	}
	return room
}
