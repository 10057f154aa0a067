// Package hta finds the critical path as Holistic Trace Analysis 0.6 does, on the same trace with the same numbers.
//
// It follows the peer's behaviour, faults included, so that results can be compared: one start and one end node an
// event, edges from call stacks, the "CUDA runtime lock", launches, kernel gaps and cuda_sync records, negative
// weights cut to 0, and the longest weighted path. Where the peer raises or returns False, Find returns an error
// that says what the peer does. The exact method of package critpath shares none of this.
//
// # Units and ids
//
// Times and weights are int64 ns; in traces with fractional stamps the peer rounds every event to whole µs (start
// up, end down), so they are multiples of 1000. Events are positions in traceEvents, as in the peer's data frame.
//
// # Sources
//
// HTA at commit f4d0062: hta/analyzers/critical_path_analysis.py, trace_counters.py, hta/common/call_stack.py,
// trace.py, trace_parser.py. Each step names the function it follows.
package hta

import (
	"errors"
	"fmt"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Options are the peer's own options.
type Options struct {
	Annotation   string   // substring of the names that make the window; "" is the whole trace
	First, Last  int      // instances of it, both included; First < 0 takes the first one
	DataLoad     []string // names of events that count as data loading
	ZeroLaunch   bool     // CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE
	KeepLastStep bool     // include_last_profiler_step
}

// Node is the start or the end of an event. TS is ns on the trace's own clock.
type Node struct {
	TS    int64
	Event trace.EventID
	End   bool
}

// Edge joins two nodes. Weight is what the peer keeps on the edge object; GraphWeight is what the longest path
// counts (negative ones cut to 0). Owner is the event that the time is attributed to, NoEvent where there is none.
type Edge struct {
	From, To            int32             // indexes into Graph.Nodes
	Type                critpath.EdgeType // one of those that both have
	Weight, GraphWeight int64
	Owner               trace.EventID
}

// Graph is the peer's graph of one window.
type Graph struct {
	Nodes    []Node  // sorted by (TS, Event, start first): every node of the window
	Used     int     // nodes that an edge names: the size of the peer's graph
	Edges    []Edge  // in the order of their first insertion
	Path     []int32 // edges of the critical path, in order
	PathNode []int32 // nodes of the critical path, in order
	Weight   int64   // of the path, by GraphWeight

	in   input
	opts Options
}

// ErrNoInstance says that the annotation does not occur, or not often enough.
var ErrNoInstance = errors.New("no such annotation instance")

// Find builds the graph of the window and its longest path.
func Find(tr *trace.Trace, o Options) (*Graph, error) {
	g := &Graph{opts: o}
	g.in = load(tr, o.KeepLastStep)
	if err := g.clip(); err != nil {
		return nil, err
	}
	b := newBuilder(g)
	b.addLockEdges()
	b.addCallStacks()
	if err := b.addKernels(); err != nil {
		return nil, err
	}
	g.Used = len(b.order)
	if err := b.validate(); err != nil {
		return nil, err
	}
	if err := b.longestPath(); err != nil {
		return nil, err
	}
	return g, nil
}

// Method is the peer's method as one of ours: on the trace of a graph, whose window it does not look at.
func Method(o Options) critpath.Method {
	return func(g *graph.Graph) (*critpath.Path, error) {
		h, err := Find(g.Trace, o)
		if err != nil {
			return nil, err
		}
		return h.AsPath(), nil
	}
}

func raises(format string, args ...any) error {
	return fmt.Errorf("hta: the peer fails here: "+format, args...)
}
