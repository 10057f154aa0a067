// Package analyses answers the questions around the critical path: why the GPU idled, whether communication was
// hidden, how deep the queues were, what launches and copies cost, which calls blocked.
//
// Each analysis is a pure function over a Set: the operations and host slices of one window, flat and sorted. Run
// makes the Set from a graph and runs the analyses that were asked for.
//
// # Units
//
// Times are int64 ns; means, deviations and quartiles are float64 ns; shares are ratios 0 to 1; bandwidths are GB/s
// (bytes per ns).
//
// # Sources
//
// Temporal breakdown, idle time, overlap, kernel breakdown, launch statistics, queue length, memory bandwidth,
// frequent sequences, operators and annotations follow Holistic Trace Analysis (hta/analyzers/*.py), with the
// differences listed in docs/analyses.md. Component analysis follows Hermes, section 4.2.1.
package analyses

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// Names of the analyses, in the order in which they run and are reported.
var Names = []string{"temporal", "idle", "overlap", "queue", "copies", "launch", "sequences", "operators", "component", "kernels", "annotations", "blocking"}

// Options of the analyses. The zero value is the default.
type Options struct {
	IdleThreshold int64    // ns: a gap shorter than this, with work queued, is a kernel wait; 0 = 30 µs (what HTA's code does)
	QueueLimit    int64    // outstanding operations that fill a queue; 0 = 1024
	Operators     []string // sequences of operators whose name contains one of these; none = every top-level operator
	OverlapBelow  float64  // component: a step whose overlap ratio is below is warned of; 0 = 0.10
	Top           int      // rows kept of long lists; 0 = 10, negative = all
}

func (o Options) withDefaults() Options {
	if o.IdleThreshold == 0 {
		o.IdleThreshold = 30_000
	}
	if o.QueueLimit == 0 {
		o.QueueLimit = 1024
	}
	if o.OverlapBelow == 0 {
		o.OverlapBelow = 0.10
	}
	if o.Top == 0 {
		o.Top = 10
	}
	return o
}

// Result holds the analyses that were asked for; the others are nil.
type Result struct {
	Temporal    []DeviceTime    `json:"temporal,omitempty"`
	Idle        []StreamIdle    `json:"idle,omitempty"`
	Overlap     []DeviceOverlap `json:"overlap,omitempty"`
	Queue       []StreamQueue   `json:"queue,omitempty"`
	Copies      *Copies         `json:"copies,omitempty"`
	Launch      *LaunchStats    `json:"launch,omitempty"`
	Sequences   []Sequence      `json:"sequences,omitempty"`
	Operators   []Operator      `json:"operators,omitempty"`
	Component   []StepComponent `json:"component,omitempty"`
	Kernels     []KernelGroup   `json:"kernels,omitempty"`
	Annotations []Group         `json:"annotations,omitempty"`
	Blocking    []BlockingCall  `json:"blocking,omitempty"`

	Rows []Row `json:"-"` // what is drawn
}

// ParseNames reads the value of --analysis: names separated by commas, or all.
func ParseNames(s string) ([]string, error) {
	if s == "" {
		return nil, nil
	}
	if s == "all" {
		return Names, nil
	}
	var out []string
	for _, name := range strings.Split(s, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(Names, name) {
			return nil, fmt.Errorf("unknown analysis %q: use all, or some of %s", name, strings.Join(Names, ","))
		}
		out = append(out, name)
	}
	return out, nil
}

// Run makes the analyses that are named, over the window of the path.
func Run(g *cdg.Graph, p *critpath.Path, names []string, o Options) *Result {
	o = o.withDefaults()
	s := newSet(g, p)
	r := &Result{}
	for _, name := range Names {
		if !slices.Contains(names, name) {
			continue
		}
		switch name {
		case "temporal":
			r.Temporal = Temporal(s)
		case "idle":
			r.Idle = Idle(s, o)
			r.Rows = append(r.Rows, idleRows(s, r.Idle)...)
		case "overlap":
			r.Overlap = Overlap(s)
			r.Rows = append(r.Rows, exposedRows(s, r.Overlap)...)
		case "queue":
			r.Queue = Queue(s, o)
			r.Rows = append(r.Rows, queueRows(s, r.Queue)...)
		case "copies":
			r.Copies = CopyStats(s)
			r.Rows = append(r.Rows, memoryRows(r.Copies)...)
		case "launch":
			r.Launch = Launches(s, o)
		case "sequences":
			r.Sequences = Sequences(s, o)
		case "operators":
			r.Operators = Operators(s, o)
		case "component":
			r.Component = Components(s, o)
		case "kernels":
			r.Kernels = Kernels(s, o)
		case "annotations":
			r.Annotations = Annotations(s)
		case "blocking":
			r.Blocking = Blocking(s, o)
		}
	}
	return r
}
