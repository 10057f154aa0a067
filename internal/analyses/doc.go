// Package analyses answers the questions around the critical path: why the GPU idled, whether communication was
// hidden, how deep the queues were, what launches and copies cost, which calls blocked.
//
// Each analysis is a pure function over a Set: the operations and host slices of one window, flat and sorted. All is
// the registry; Run makes the Set from a graph and runs those that were asked for. Their results are typed, and tables
// by the tags of the types (internal/tables).
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
// differences listed in docs/reference/analyses.md. The split of a step by the components that work,
// alone or at once, is that of the Hermes paper; docs/reference/analyses.md says how it is made.
package analyses

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
