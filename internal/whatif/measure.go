package whatif

import (
	"slices"

	"overlay/internal/cdg"
)

// Delays are the delays that sources get which did not bind in the recording, ns: medians of the trace's own, and how
// many cases each rests on. With fewer than five it is a usual value (Defaults).
type Delays struct {
	Launch int64 // start of a launch call to the start of its operation, on an idle stream
	Graph  int64 // the same of the first operation of a recorded graph
	Kernel int64 // end of an operation to the start of the next of its stream
	Event  int64 // end of an operation to the start of one of another stream that waited for it
	Post   int64 // end of an operation to the return of a call that waited for it
	Own    int64 // a blocking call that had nothing to wait for
	Call   int64 // a launch call that nothing held up

	Samples  map[string]int // by the names launch, graph, kernel, event, post, own, call
	Defaults []string       // of these names, those that are usual values
}

const enough = 5 // samples of which a median is taken

// measure finds the typical delays.
func (b *modelBuilder) measure() {
	g := b.g
	var launch, graph, kernel, event, post, own, call []int64
	ops := map[cdg.ActID]int{} // per launch call: its operations
	for a := range g.Acts {
		if g.Lanes[g.Acts[a].Lane].Stream {
			if c := b.launchOf(cdg.ActID(a)); c != cdg.NoAct {
				ops[c]++
			}
		}
	}
	for a := range g.Acts {
		act := &g.Acts[a]
		if !g.Lanes[act.Lane].Stream {
			continue
		}
		w, c := g.Release(cdg.ActID(a)), b.launchOf(cdg.ActID(a))
		if c != cdg.NoAct && ops[c] == 1 {
			call = append(call, g.Acts[c].End-g.Acts[c].Start)
		}
		if w.Note != cdg.Explained {
			continue
		}
		switch w.Rule {
		case cdg.Launch:
			if ops[c] > 1 {
				graph = append(graph, w.Lag)
			} else if w.Evidence == cdg.ByCorrelation {
				launch = append(launch, w.Lag)
			}
		case cdg.StreamOrder:
			if c == cdg.NoAct || g.Acts[c].End+2000 < w.At { // it was queued
				kernel = append(kernel, w.Lag)
			}
		case cdg.EventWait:
			event = append(event, w.Lag)
		}
	}
	for l := range g.Lanes {
		for i := g.PieceFirst[l]; i < g.PieceFirst[l+1]; i++ {
			if id := g.Begun[i]; id != cdg.NoWait && g.Waits[id].Rule == cdg.Sync {
				post = append(post, g.Waits[id].Lag)
			}
		}
	}
	b.ops = ops
	waitedIn := b.waitedCalls()
	last := cdg.NoAct
	for _, h := range b.holds {
		if h.Call == last {
			continue
		}
		last = h.Call
		if c := &g.Acts[h.Call]; !waitedIn[h.Call] {
			own = append(own, c.End-c.Start)
		}
	}
	d := &b.m.delays
	d.Samples = map[string]int{}
	set := func(name string, to *int64, samples []int64, usual int64) {
		d.Samples[name] = len(samples)
		if len(samples) < enough {
			*to = usual
			d.Defaults = append(d.Defaults, name)
			return
		}
		slices.Sort(samples)
		*to = samples[len(samples)/2]
	}
	set("launch", &d.Launch, launch, 7000)
	set("graph", &d.Graph, graph, 2*d.Launch)
	set("kernel", &d.Kernel, kernel, 1200)
	set("event", &d.Event, event, max(d.Kernel, 2500))
	set("post", &d.Post, post, 4000)
	set("own", &d.Own, own, 3000)
	set("call", &d.Call, call, 5000)
}

// waitedCalls are the calls at whose end a thread is known to have waited for an operation.
func (b *modelBuilder) waitedCalls() map[cdg.ActID]bool {
	g := b.g
	waited := map[cdg.ActID]bool{}
	for l := range g.Lanes {
		for i := g.PieceFirst[l] + 1; i < g.PieceFirst[l+1]; i++ {
			if id := g.Begun[i]; id != cdg.NoWait && g.Waits[id].Rule == cdg.Sync {
				for c := g.Pieces[i-1].Owner; c != cdg.NoAct && g.Call(c); c = g.Parent[c] {
					waited[c] = true
				}
			}
		}
	}
	return waited
}

// launchOf is the call that launched an operation, or NoAct.
func (b *modelBuilder) launchOf(op cdg.ActID) cdg.ActID {
	for _, w := range b.g.Sources(op) {
		if w.Rule == cdg.Launch {
			return w.From
		}
	}
	return cdg.NoAct
}

func (b *modelBuilder) typical(r cdg.Rule) int64 {
	d := &b.m.delays
	switch r {
	case cdg.EventWait:
		return d.Event
	case cdg.GraphOrder, cdg.StreamOrder:
		return d.Kernel
	}
	return 0
}

// launchLag is the typical delay from a launch call's start. Operations of a recorded graph go by the first of them, if
// its launch is what released that.
func (b *modelBuilder) launchLag(op, call cdg.ActID) int64 {
	if b.ops[call] > 1 {
		return b.m.delays.Graph
	}
	return b.m.delays.Launch
}
