package whatif

import (
	"overlay/internal/cdg"
)

// delay is a kind of delay that a source gets which did not bind in the recording.
type delay uint8

const (
	launchLag delay = iota // start of a launch call to the start of its operation, on an idle stream
	graphLag               // the same of the first operation of a recorded graph
	kernelLag              // end of an operation to the start of the next of its stream
	eventLag               // end of an operation to the start of one of another stream that waited for it
	postLag                // end of an operation to the return of a call that waited for it
	ownTime                // a blocking call that had nothing to wait for
	callTime               // a launch call that nothing held up
	numDelays              // those below are of no use to sources
)

var delayWords = [numDelays]string{"launch", "graph launch", "kernel", "event wait", "return of a wait", "wait for nothing", "launch call"}

// typicalDelays are quantiles of delays, ns.
type typicalDelays [numDelays]int64

// TypicalDelay is a delay as the model took it from the trace: the median, and how many cases it rests on.
type TypicalDelay struct {
	Name    string
	NS      int64
	Samples int
	Usual   bool // too few cases: what is usual elsewhere
}

// enough samples of which a median is taken; below it stands what is usual elsewhere.
const enough = 5

// measure finds the typical delays.
func (b *modelBuilder) measure() {
	g, m := b.g, b.m
	var samples [numDelays][]int64
	add := func(d delay, ns int64) { samples[d] = append(samples[d], ns) }
	b.ops = make([]int32, len(g.Acts))
	for a := range g.Acts {
		if g.Lanes[g.Acts[a].Lane].Stream {
			if c := b.launchOf(cdg.ActID(a)); c != cdg.NoAct {
				b.ops[c]++
			}
		}
	}
	for a := range g.Acts {
		if !g.Lanes[g.Acts[a].Lane].Stream {
			continue
		}
		w, c := g.Release(cdg.ActID(a)), b.launchOf(cdg.ActID(a))
		if c != cdg.NoAct && b.ops[c] == 1 {
			add(callTime, g.Acts[c].End-g.Acts[c].Start)
		}
		switch {
		case w.Note != cdg.Explained:
		case w.Rule == cdg.Launch && b.ops[c] > 1:
			add(graphLag, w.Lag)
		case w.Rule == cdg.Launch && w.Evidence == cdg.ByCorrelation:
			add(launchLag, w.Lag)
		case c != cdg.NoAct && g.Acts[c].Start+g.Delays.Launch.Max >= w.At: // its launch may have been what it waited for
		case w.Rule == cdg.StreamOrder:
			add(kernelLag, w.Lag)
		case w.Rule == cdg.EventWait:
			add(eventLag, w.Lag)
		}
	}
	waited := m.NewSet() // calls at whose end a thread is known to have waited
	for l := range g.Lanes {
		for i := g.PieceFirst[l] + 1; i < g.PieceFirst[l+1]; i++ {
			if id := g.Pieces[i].Begun; id != cdg.NoWait && g.Waits[id].Rule == cdg.Sync {
				add(postLag, g.Waits[id].Lag)
				for c := g.Pieces[i-1].Owner; c != cdg.NoAct && g.Call(c); c = g.Parent[c] {
					waited.Add(c)
				}
			}
		}
	}
	last := cdg.NoAct
	for _, h := range b.holds {
		if c := &g.Acts[h.Call]; h.Call != last && !waited.Has(h.Call) {
			add(ownTime, c.End-c.Start)
		}
		last = h.Call
	}
	usual := typicalDelays{launchLag: 7000, kernelLag: 1200, eventLag: 2500, postLag: 4000, ownTime: 3000, callTime: 5000}
	for d := range numDelays {
		s := samples[d]
		m.samples[d] = len(s)
		switch {
		case len(s) >= enough:
			m.typical[d], m.low[d], m.high[d] = cdg.Nth(s, len(s)/2), cdg.Nth(s, len(s)/20), cdg.Nth(s, len(s)-1-len(s)/20)
		case d == graphLag: // at least as slow as other launches
			m.typical[d], m.low[d], m.high[d] = 2*m.typical[launchLag], m.low[launchLag], 4*m.high[launchLag]
		default:
			m.typical[d], m.low[d], m.high[d] = usual[d], usual[d]/2, 2*usual[d]
		}
	}
}

// TypicalDelays returns what the model measured on the trace.
func (m *Model) TypicalDelays() []TypicalDelay {
	out := make([]TypicalDelay, 0, numDelays)
	for d := range numDelays {
		out = append(out, TypicalDelay{delayWords[d], m.typical[d], m.samples[d], m.samples[d] < enough})
	}
	return out
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

// typicalOf is the kind of delay that an operation has behind a source that did not bind.
func (b *modelBuilder) typicalOf(w *cdg.Wait) delay {
	switch {
	case w.Rule == cdg.EventWait:
		return eventLag
	case w.Rule != cdg.Launch:
		return kernelLag
	case b.ops[w.From] > 1:
		return graphLag
	}
	return launchLag
}
