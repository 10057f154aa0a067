package whatif

import (
	"slices"
	"sort"

	"overlay/internal/cdg"
)

var delayWords = [cdg.NumLags]string{"launch", "graph launch", "kernel", "event wait", "return of a wait", "wait for nothing", "launch call"}

// TypicalDelay is a delay as the model took it from the trace: the median, and how many cases it rests on.
type TypicalDelay struct {
	Name    string
	NS      int64
	Samples int
	Usual   bool // too few cases: what is usual elsewhere
}

// TypicalDelays returns what was measured on the trace.
func (m *Model) TypicalDelays() []TypicalDelay {
	out := make([]TypicalDelay, 0, cdg.NumLags)
	for d, x := range m.g.Usual {
		out = append(out, TypicalDelay{delayWords[d], x.Median, x.Samples, x.Samples < cdg.EnoughSamples})
	}
	return out
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
func (b *modelBuilder) typicalOf(w *cdg.Wait) cdg.Lag {
	switch {
	case w.Rule == cdg.EventWait:
		return cdg.EventLag
	case w.Rule != cdg.Launch:
		return cdg.KernelLag
	case b.ops[w.From] == severalOps:
		return cdg.GraphLag
	}
	return cdg.LaunchLag
}
