package cdg

import (
	"overlay/internal/clock"
	"overlay/internal/par"
	"overlay/internal/trace"
)

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
	b.apply(hostCollectivesRule, locksRule)
	pairer{b}.pairThreads()
	b.bindOperations(b.sortFound())
	held := b.holdsBeside()
	pooled()
	b.bindHostCollectives()
	(&threadBinder{builder: b, own: map[LaneID]map[trace.Sym]int64{}, givers: map[LaneID]giver{}}).bindThreads(g.Window.Start, g.Window.End)
	b.measureOwnTime()
	held()
	b.measureUsual()
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
