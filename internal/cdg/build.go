// Package cdg builds the computation dependency graph of a trace: event-level dependencies (Deps) and the aggregated
// nodes made from them (Nodes, Edges). It infers what a trace does not record, and says on what evidence.
package cdg

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/trace"
)

// ThreadMode says how work passes from thread to thread.
type ThreadMode uint8

// The modes.
const (
	ThreadsAuto     ThreadMode = iota // decided from the trace
	ThreadsGIL                        // threads that alternate hand over to each other, by time stamps
	ThreadsExplicit                   // only flows, blocking frames and joins hand over (threads run without a GIL)
)

var threadModeNames = [...]string{"auto", "gil", "explicit"}

func (m ThreadMode) String() string { return threadModeNames[m] }

// ParseThreadMode reads the value of --threads.
func ParseThreadMode(s string) (ThreadMode, error) {
	for m, name := range threadModeNames {
		if s == name {
			return ThreadMode(m), nil
		}
	}
	return 0, fmt.Errorf("threads: %q is none of auto, gil, explicit", s)
}

// Options choose the window and the reading of threads. The zero value is the whole trace, threads decided from it.
type Options struct {
	Annotation string // window: events of annotations and ops whose name contains it; "" for the whole trace
	Instance   string // "N", or "A:B" from the start of A to the end of B; "" is the first
	Step       string // window: the digits N of ProfilerStep#N, exactly; "" for none
	Threads    ThreadMode
	Recorded   *Recorded // of the run that wrote this part of a trace; its window holds where none is asked for

	disabled uint32 // bit per Rule; tests switch rows of the dependency table off
}

func (o *Options) without(r Rule) bool { return o.disabled&(1<<r) != 0 }

// builder holds what the rules share while Deps is made.
type builder struct {
	tr      *trace.Trace
	o       *Options
	d       *Deps
	quality map[string]int

	tick    int64       // ns by which ends and starts that belong together may cross: 1 µs in traces of whole µs, else 1 ns
	calls   []callClass // per symbol: what a runtime or driver call of that name does
	launch  []ActID     // per act: the call that launched the operation, or NoAct
	pred    []ActID     // per act: stream predecessor
	graph   []bool      // per act: launched together with others
	order   [][]ActID   // per stream lane: operations with a recorded launch, in launch order
	pos     []int32     // per act: index in order of its lane, -1
	byEnd   []ActID     // all operations by (End, Start, id)
	endsOf  [][]ActID   // per stream lane: its operations by end
	threads []threadInfo
	sync    syncRecords
	records map[trace.ProcID][]int64 // starts of cudaEventRecord calls per process, ascending
	waits   map[trace.ProcID][]ActID // cudaStreamWaitEvent calls per process, by start

	ofCall    []ActID   // per act: the last operation of the launch, or NoAct
	copyCalls [][]ActID // per thread lane with any: its copy calls in time order

	orphans   orphanRuns
	graphWait map[ActID]ActID // operations that wait for another of a graph

	found []foundDep
}

type foundDep struct {
	to ActID
	Dep
}

func (b *builder) add(to, from ActID, r Rule, e Evidence) {
	if !b.o.without(r) {
		b.found = append(b.found, foundDep{to, Dep{from, r, e}})
	}
}

// Build makes the graph of one window of a trace. It fails only when the window cannot be found.
func Build(tr *trace.Trace, o Options) (*Graph, error) {
	b, g, err := lay(tr, &o)
	if err != nil {
		return nil, err
	}
	phases := trace.Beside(func() { findPhases(g, ruleSet{}) }) // they follow from names and nesting alone
	b.link(g)
	phases()
	buildNodes(g)
	return g, nil
}

// lay finds the window and puts the activities into lanes and inside each other.
func lay(tr *trace.Trace, o *Options) (*builder, *Graph, error) {
	w, err := FindWindow(tr, *o)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{tr: tr, o: o, d: &Deps{}, quality: map[string]int{}}
	b.layActs()
	b.flatten()
	b.findMarkers()
	return b, &Graph{Trace: tr, Window: w, Steps: FindSteps(tr), Deps: b.d, Quality: b.quality}, nil
}

// link applies the rules, each after those whose results it reads.
func (b *builder) link(g *Graph) {
	b.classifyCalls()
	b.linkStreams()
	b.describeThreads()
	b.readSyncRecords()
	b.calibrateLaunches()
	b.exactEventWaits()
	b.graphOrder()
	b.inferEventWaits()
	b.calibrateWaits()
	b.assumeLaunches()
	b.blockingCalls()
	b.queueFull()
	b.polledWaits()
	b.storeDeps()
	b.pairThreads()

	g.Threads = b.d.mode
	g.Window.CarriedIn = b.carriedIn(g.Window)
	for i := range g.Steps {
		if w := &g.Window; b.o.Step != "" && g.Steps[i].Start > w.Start && g.Steps[i].Start < w.End {
			g.Quality["step_tail_under_next_step"] = 1 // the next step began before this one's operations ended
		}
	}
}

// storeDeps sorts what the rules found into CSR form.
func (b *builder) storeDeps() {
	d := b.d
	d.First = make([]int32, len(d.Acts)+1)
	for i := range b.found {
		d.First[b.found[i].to+1]++
	}
	for i := 1; i < len(d.First); i++ {
		d.First[i] += d.First[i-1]
	}
	d.In = make([]Dep, len(b.found))
	next := make([]int32, len(d.Acts))
	copy(next, d.First)
	for i := range b.found {
		f := &b.found[i]
		d.In[next[f.to]] = f.Dep
		next[f.to]++
	}
	for a := range d.Acts {
		if in := d.In[d.First[a]:d.First[a+1]]; len(in) > 1 {
			slices.SortStableFunc(in, compareDeps)
		}
	}
	b.found = nil
}

// compareDeps is the order of the sources of an activity.
func compareDeps(a, b Dep) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.From, b.From))
}

// carriedIn counts the operations launched before the window that still run inside it.
func (b *builder) carriedIn(w Window) int {
	n := 0
	for a := range b.d.Acts {
		act := &b.d.Acts[a]
		if !b.d.Lanes[act.Lane].Stream || act.End <= w.Start || act.Start >= w.End {
			continue
		}
		if l := b.launch[a]; l != NoAct && b.d.Acts[l].Start < w.Start || l == NoAct && act.Start < w.Start {
			n++
		}
	}
	return n
}
