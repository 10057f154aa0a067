package whatif

import (
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/par"
	"overlay/internal/stat"
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

// samples are delays of some operations or pieces.
type samples [numDelays][]int64

func (s *samples) add(d delay, ns int64) { s[d] = append(s[d], ns) }

// measure finds the typical delays.
func (b *modelBuilder) measure() {
	g, m := b.g, b.m
	b.countLaunches()
	ops, pieces := len(g.Acts)-int(m.firstOp), len(g.Pieces)
	parts := make([]samples, par.Ranges(ops, pointsRange)+par.Ranges(pieces, pointsRange)+1)
	ofOps, ofPieces, ofCalls := parts[:par.Ranges(ops, pointsRange)], parts[par.Ranges(ops, pointsRange):len(parts)-1], &parts[len(parts)-1]
	par.EachRange(ops, len(ofOps), func(part, from, to int) {
		for i := from; i < to; i++ {
			b.sample(&ofOps[part], m.firstOp+cdg.ActID(i))
		}
	})
	waited := m.NewSet() // calls at whose end a thread is known to have waited
	par.EachRange(pieces, len(ofPieces), func(part, from, to int) {
		b.eachPiece(from, to, func(i int, l cdg.LaneID) {
			if id := g.Pieces[i].Begun; i > int(g.PieceFirst[l]) && id != cdg.NoWait && g.Waits[id].Rule == cdg.Sync {
				ofPieces[part].add(postLag, g.Waits[id].Lag)
				for c := g.Pieces[i-1].Owner; c != cdg.NoAct && g.Call(c); c = g.Parent[c] {
					waited.addShared(c)
				}
			}
		})
	})
	last := cdg.NoAct
	for _, h := range b.holds {
		if c := &g.Acts[h.Call]; h.Call != last && !waited.Has(h.Call) {
			ofCalls.add(ownTime, c.End-c.Start)
		}
		last = h.Call
	}
	usual := typicalDelays{launchLag: 7000, kernelLag: 1200, eventLag: 2500, postLag: 4000, ownTime: 3000, callTime: 5000}
	par.Each(int(numDelays), func(d int) {
		lists := make([][]int64, len(parts))
		for i := range parts {
			lists[i], parts[i][d] = parts[i][d], nil
		}
		s := slices.Concat(lists...)
		if m.samples[d] = len(s); len(s) >= enough {
			m.typical[d], m.low[d], m.high[d] = stat.Median(s), stat.Nth(s, len(s)/20), stat.Nth(s, len(s)-1-len(s)/20)
		} else {
			m.typical[d], m.low[d], m.high[d] = usual[d], usual[d]/2, 2*usual[d]
		}
	})
	if m.samples[graphLag] < enough { // at least as slow as other launches
		m.typical[graphLag], m.low[graphLag], m.high[graphLag] = 2*m.typical[launchLag], m.low[launchLag], 4*m.high[launchLag]
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

// sample adds the delays of an operation.
func (b *modelBuilder) sample(to *samples, op cdg.ActID) {
	g := b.g
	w, c := g.Release(op), b.launchOf(op)
	if c != cdg.NoAct && b.ops[c] == 1 {
		to.add(callTime, g.Acts[c].End-g.Acts[c].Start)
	}
	switch {
	case w.Note != cdg.Explained:
	case w.Rule == cdg.Launch && b.ops[c] == severalOps:
		to.add(graphLag, w.Lag)
	case w.Rule == cdg.Launch && w.Evidence == cdg.ByCorrelation:
		to.add(launchLag, w.Lag)
	case c != cdg.NoAct && g.Acts[c].Start+g.Delays.Launch.Max >= w.At: // its launch may have been what it waited for
	case w.Rule == cdg.StreamOrder:
		to.add(kernelLag, w.Lag)
	case w.Rule == cdg.EventWait:
		to.add(eventLag, w.Lag)
	}
}

// severalOps stands for two and more.
const severalOps = 2

// countLaunches counts the operations of each launch call.
func (b *modelBuilder) countLaunches() {
	g, m := b.g, b.m
	m.firstOp = cdg.ActID(len(g.Acts))
	if l := slices.IndexFunc(g.Lanes, func(l cdg.Lane) bool { return l.Stream }); l >= 0 {
		m.firstOp = g.Lanes[l].First
	}
	b.ops = make([]uint8, m.firstOp)
	for op := m.firstOp; op < cdg.ActID(len(g.Acts)); op++ {
		if c := b.launchOf(op); c != cdg.NoAct && b.ops[c] < severalOps {
			b.ops[c]++
		}
	}
}

// launchOf is the call that launched an operation, or NoAct.
func (b *modelBuilder) launchOf(op cdg.ActID) cdg.ActID {
	for i, row := 0, b.g.Sources(op); i < len(row); i++ {
		if row[i].Rule == cdg.Launch {
			return row[i].From
		}
	}
	return cdg.NoAct
}

// eachPiece visits some pieces in their order, each with its thread.
func (b *modelBuilder) eachPiece(from, to int, visit func(i int, l cdg.LaneID)) {
	starts := b.g.PieceFirst
	l := sort.Search(len(starts), func(l int) bool { return int(starts[l]) > from }) - 1
	for i := from; i < to; i++ {
		for i >= int(starts[l+1]) {
			l++
		}
		visit(i, cdg.LaneID(l))
	}
}

// typicalOf is the kind of delay that an operation has behind a source that did not bind.
func (b *modelBuilder) typicalOf(w *cdg.Wait) delay {
	switch {
	case w.Rule == cdg.EventWait:
		return eventLag
	case w.Rule != cdg.Launch:
		return kernelLag
	case b.ops[w.From] == severalOps:
		return graphLag
	}
	return launchLag
}
