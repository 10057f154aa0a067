package cdg

import (
	"fmt"

	"overlay/internal/clock"
	"overlay/internal/par"
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
	Step       string // window: the name of a step as FindSteps gives it, or its number; "" for none
	Threads    ThreadMode
	Recorded   *Recorded // of the run that wrote this part of a trace; its window holds where none is asked for

	disabled uint32 // bit per Rule; tests switch rows of the dependency table off
	leaveOut string // a rule that is not applied, for tests
}

func (o *Options) without(r Rule) bool { return o.disabled&(1<<r) != 0 }

// facts are what was recorded, and what follows from it without a rule: calls, launches, streams, threads. Nothing of them
// changes while rules are applied.
type facts struct {
	tr      *trace.Trace
	o       *Options
	d       *Graph // what is built
	quality map[string]int

	clockGrain int64       // ns by which ends and starts that belong together may cross: 1 µs in traces of whole µs, else 1 ns
	calls      []callClass // per symbol: what a runtime or driver call of that name does
	firstOp    ActID       // streams lie behind threads: all activities from here on are operations
	oneDevice  bool        // all streams are of one device
	launch     []ActID     // per act: the call that launched the operation, or NoAct
	ofCall     []ActID     // per act: the last operation of the launch, or NoAct
	pred       []ActID     // per act: stream predecessor
	graph      []bool      // per act: launched together with others
	order      [][]ActID   // per stream lane: operations with a recorded launch, in launch order
	pos        []int32     // per act: index in order of its lane, -1
	byEnd      []ActID     // all operations by (End, Start, id)
	endsOf     [][]ActID   // per stream lane: its operations by end
	set        LaneSets    // streams and threads that belong together, see relateStreams
	orphans    orphanRuns

	threads   []threadInfo
	records   map[trace.ProcID][]ActID // cudaEventRecord calls per process, in time order
	waits     map[trace.ProcID][]ActID // cudaStreamWaitEvent calls per process, by start
	copyCalls [][]ActID                // per thread lane with any: its copy calls in time order
	syncCalls []ActID                  // calls that wait for the GPU, thread by thread

	sync  syncRecords
	marks []trace.EventID // what devices recorded on the rows of streams
}

// builder applies the rules to facts. It holds what they find, and what later rules read of it.
type builder struct {
	*facts
	found []foundDep

	graphWait map[ActID]ActID      // operations that wait for another of a graph
	streamIDs map[streamKey]LaneID // where the device recorded what streams waited for: streams by device and number; nil elsewhere
	behind    map[ActID]ActID      // operations that came after work without a record, and what is known to have come before that; NoAct: nothing

	blocking []bool    // per symbol: names of slices in which a thread waits for another; nil unless threads are explicit
	lonely   bool      // at most one thread blocks: whom it waits for is not recorded as such
	enders   [][]ender // per thread lane: the threads that hand results on to it
	pool     *pool
	inside   []Inside // points inside pieces of threads that something comes from
}

// dep is a dependency that a rule found.
type dep struct {
	From     ActID
	Rule     Rule
	Evidence Evidence
}

type foundDep struct {
	to ActID
	dep
}

func (b *builder) add(to, from ActID, r Rule, e Evidence) {
	if !b.o.without(r) {
		b.found = append(b.found, foundDep{to, dep{from, r, e}})
	}
}

// Build makes the graph of one window of a trace. It fails only when the window cannot be found.
func Build(tr *trace.Trace, o Options) (*Graph, error) {
	_, link, err := LayOut(tr, o)
	if err != nil {
		return nil, err
	}
	return link(), nil
}

// LayOut is Build in two steps, for those who have work to do beside the second one: link makes the graph, once, around
// the layout. Of the layout it still sets Window.CarriedIn and the hosts of streams. LayOut fails only when the window
// cannot be found.
func LayOut(tr *trace.Trace, o Options) (y *Layout, link func() *Graph, err error) {
	b, err := layOut(tr, &o)
	if err != nil {
		return nil, nil, err
	}
	return b.d.Layout, b.applyRules, nil
}

// layOut finds the window and puts the activities into lanes and inside each other.
func layOut(tr *trace.Trace, o *Options) (*builder, error) {
	var corrections []clock.Correction
	if o.Recorded == nil {
		corrections = clock.Solve(tr)
	} else {
		corrections = o.Recorded.Clock
	}
	tr = clock.Apply(tr, corrections)
	w, err := FindWindow(tr, *o)
	if err != nil {
		return nil, err
	}
	g := &Graph{Layout: &Layout{Trace: tr, Clock: corrections, Window: w, Steps: FindSteps(tr)}, Quality: map[string]int{}}
	b := &builder{facts: &facts{tr: tr, o: o, d: g, quality: g.Quality}, pool: &pool{}}
	b.layActs()
	flattened := par.Beside(b.flatten)
	b.numberActs()
	b.findFacts()
	flattened()
	return b, nil
}

// applyRules applies the rules, each after those whose results it reads, and completes the graph.
func (b *builder) applyRules() *Graph {
	g := b.d
	b.classifyCalls()
	pooled := par.Beside(func() { b.apply(poolsRule) })
	link := linker{b}
	link.linkStreams()
	described := par.Beside(describer{b}.describeThreads)
	link.markGraphs()
	link.sortEnds()
	b.relateStreams()
	described()
	var alone []func()
	for _, r := range aloneRules {
		if b.uses(r) {
			alone = append(alone, b.beside(r.find))
		}
	}
	b.readSyncRecords()
	b.calibrateLaunches()
	b.apply(waitRules[0]...)
	b.calibrateWaits()
	b.apply(waitRules[1]...)
	for _, add := range alone {
		add()
	}
	pairer{b}.pairThreads()
	b.bindOperations(b.sortFound())
	held := b.holdsBeside()
	g.ClockGrain = b.clockGrain
	pooled()
	(&threadBinder{builder: b}).bindThreads(g.Window.Start, g.Window.End)
	b.measureOwnTime()
	held()
	for i := range b.threads {
		t := &b.threads[i]
		g.threads = append(g.threads, threadFacts{len(t.launches), t.busyTime, t.autograd, t.pinMemory})
	}

	g.Window.CarriedIn = b.carriedIn(g.Window)
	for i := range g.Steps {
		if w := &g.Window; b.o.Step != "" && g.Steps[i].Start > w.Start && g.Steps[i].Start < w.End {
			g.Quality["step_tail_under_next_step"] = 1 // the next step began before this one's operations ended
		}
	}
	return g
}

// beside applies a rule that reads no results of others on a goroutine of its own. The returned function waits for it, and adds what it
// found.
func (b *builder) beside(rule func(*builder)) (add func()) {
	x := *b
	x.found = nil
	wait := par.Beside(func() { rule(&x) })
	return func() {
		wait()
		b.found = append(b.found, x.found...)
	}
}

// carriedIn counts the operations launched before the window that still run inside it.
func (b *builder) carriedIn(w Window) int {
	operations := len(b.d.Acts) - int(b.firstOp)
	parts := make([]int, ranges(operations, 0))
	par.EachRange(operations, len(parts), func(part, from, to int) {
		for a := b.firstOp + ActID(from); a < b.firstOp+ActID(to); a++ {
			act := &b.d.Acts[a]
			if act.End <= w.Start || act.Start >= w.End {
				continue
			}
			if l := b.launch[a]; l != NoAct && b.d.Acts[l].Start < w.Start || l == NoAct && act.Start < w.Start {
				parts[part]++
			}
		}
	})
	n := 0
	for _, more := range parts {
		n += more
	}
	return n
}
