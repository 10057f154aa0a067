package cdg

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"overlay/internal/trace"
)

const (
	handoffGap  = 2 * us // a wait shorter than this is ordinary time between slices
	turnOverlap = 20     // two threads take turns when at most 1/20 of the smaller busy time overlaps
	manyThreads = 20     // of one process that are compared with each other, those that work most often; eight devices have two each and the main one
	turnsNeeded = 20     // busy intervals that both need, unless one is an autograd thread
)

// WaitingFrame reports whether a frame of Python waits for another thread, by its name.
func WaitingFrame(name string) bool { return blockingFrame.MatchString(name) }

// pairer finds threads that hand work over to each other.
type pairer struct{ *builder }

func (b pairer) pair(x, y LaneID) {
	d := b.d
	d.Partners[x] = append(d.Partners[x], y)
	d.Partners[y] = append(d.Partners[y], x)
}

// pairThreads finds which threads may hand work over to each other.
func (b pairer) pairThreads() {
	d := b.d
	d.Partners = make([][]LaneID, len(d.Lanes))
	if b.o.without(Handoff) {
		return
	}
	linked := b.flowPairs()
	mode := b.o.Threads
	if mode == ThreadsAuto {
		mode = ThreadsGIL
		for _, p := range linked {
			if !takeTurns(&b.threads[p[0]], &b.threads[p[1]]) {
				mode = ThreadsExplicit // forward and backward run at once: time order says nothing
			}
		}
	}
	b.d.Threads = mode
	if mode == ThreadsExplicit {
		b.blocking = matchSyms(b.tr, blockingFrame.MatchString)
		for a := range d.Acts { // only threads that block take part in it
			if act := &d.Acts[a]; b.blocking[b.event(ActID(a)).Name] && !d.Lanes[act.Lane].Stream {
				b.threads[act.Lane].blocks = true
			}
		}
		blockers := 0
		for t := range b.threads {
			if b.threads[t].blocks {
				blockers++
			}
		}
		b.lonely = blockers < 2
		for _, p := range linked {
			b.pair(p[0], p[1])
		}
	}
	if mode == ThreadsGIL {
		b.apply(turnsRule)
		for x := range d.Partners {
			b.leaveOutStrangers(LaneID(x), linked)
		}
	}
	b.apply(resultsRule)
	for x := range d.Partners {
		slices.Sort(d.Partners[x])
	}
}

var turnsRule = rule{name: "threads that take turns", find: func(b *builder) { pairer{b}.pairByTurns() }}

// pairByTurns pairs the threads that take turns. Only threads that can belong to a pair are looked at: where there are
// very many threads, most do too little.
func (b pairer) pairByTurns() {
	d := b.d
	of := map[trace.ProcID][]LaneID{}  // threads with enough to do to take turns, and those of the autograd engine
	few := map[trace.ProcID][]LaneID{} // others that do something: only the engine's threads take turns with them
	for l := range d.Lanes {
		t, proc := &b.threads[l], d.Lanes[l].Proc
		switch {
		case d.Lanes[l].Stream || t.ops == 0 || len(t.busy) == 0 || b.doesCollectives(LaneID(l)):
		case t.autograd || len(t.busy) >= turnsNeeded:
			of[proc] = append(of[proc], LaneID(l))
		default:
			few[proc] = append(few[proc], LaneID(l))
		}
	}
	for proc, lanes := range of {
		if len(lanes) > manyThreads {
			work := func(l LaneID) int {
				if b.threads[l].autograd {
					return math.MaxInt
				}
				return len(b.threads[l].busy)
			}
			slices.SortStableFunc(lanes, func(x, y LaneID) int { return cmp.Compare(work(y), work(x)) })
			few[proc], lanes = append(few[proc], lanes[manyThreads:]...), lanes[:manyThreads]
		}
		for i, x := range lanes {
			rest := lanes[i+1:]
			if b.threads[x].autograd {
				rest = slices.Concat(rest, few[proc])
			}
			for _, y := range rest {
				if !b.locks.tell(x, y) && takeTurns(&b.threads[x], &b.threads[y]) {
					b.pair(x, y)
				}
			}
		}
	}
}

// leaveOutStrangers filters the partners of an autograd thread. Threads linked by flows stay, and threads that work both before and after the
// autograd thread, where there are any: a thread that was done before backward began had its turn by chance.
func (b pairer) leaveOutStrangers(x LaneID, linked [][2]LaneID) {
	d := b.d
	t := &b.threads[x]
	if !t.autograd || len(d.Partners[x]) < 2 {
		return
	}
	known := func(y LaneID) bool {
		busy := b.threads[y].busy
		return busy[0].Start < t.busy[len(t.busy)-1].End && t.busy[0].Start < busy[len(busy)-1].End || slices.Contains(linked, [2]LaneID{min(x, y), max(x, y)})
	}
	if !slices.ContainsFunc(d.Partners[x], known) {
		return
	}
	for _, y := range d.Partners[x] {
		if !known(y) {
			d.Partners[y] = slices.DeleteFunc(d.Partners[y], func(p LaneID) bool { return p == x })
		}
	}
	d.Partners[x] = slices.DeleteFunc(d.Partners[x], func(y LaneID) bool { return !known(y) })
}

// siblings reports whether two lanes are threads of one process that run ops: a thread with calls only is a watchdog.
func (b *facts) siblings(x, y LaneID) bool {
	lx, ly := &b.d.Lanes[x], &b.d.Lanes[y]
	return x != y && !lx.Stream && !ly.Stream && lx.Proc == ly.Proc && b.threads[x].ops > 0 && b.threads[y].ops > 0
}

// takeTurns reports whether two threads hardly ever have ops or calls open at once.
func takeTurns(x, y *threadInfo) bool {
	if len(x.busy) == 0 || len(y.busy) == 0 {
		return false
	}
	if !x.autograd && !y.autograd && (len(x.busy) < turnsNeeded || len(y.busy) < turnsNeeded) {
		return false
	}
	limit, overlap := min(x.busyTime, y.busyTime)/turnOverlap, int64(0)
	xs, ys := x.busy, y.busy
	if len(xs) > len(ys) {
		xs, ys = ys, xs
	}
	for _, s := range xs {
		i := sort.Search(len(ys), func(i int) bool { return ys[i].End > s.Start })
		for ; i < len(ys) && ys[i].Start < s.End; i++ {
			overlap += min(s.End, ys[i].End) - max(s.Start, ys[i].Start)
		}
		if overlap > limit {
			return false
		}
	}
	return true
}

// flowPairs returns the pairs of threads that forward-backward flows link, ascending.
func (b pairer) flowPairs() [][2]LaneID {
	tr := b.tr
	isFlow := matchSyms(tr, func(s string) bool { return s == "fwdbwd" || s == "forward_backward" || s == "fwd_bwd" })
	if !slices.Contains(isFlow, true) {
		return nil
	}
	laneOf := make([]LaneID, len(tr.Tracks))
	for i := range laneOf {
		laneOf[i] = NoLane
	}
	for l := range b.d.Lanes {
		laneOf[b.d.Lanes[l].Track] = LaneID(l)
	}
	type key struct {
		proc trace.ProcID
		id   int64
	}
	from := map[key]LaneID{}
	var ends []*trace.Event // a flow may end in the file before it starts
	for i := range tr.Events {
		e := &tr.Events[i]
		if e.Ph != 's' && e.Ph != 'f' || e.Track == trace.NoTrack || !isFlow[e.Cat] && !isFlow[e.Name] {
			continue
		}
		if e.Ph == 'f' {
			ends = append(ends, e)
		} else {
			from[key{tr.Tracks[e.Track].Proc, tr.Corr(e)}] = laneOf[e.Track]
		}
	}
	var pairs [][2]LaneID
	for _, e := range ends {
		s, ok := from[key{tr.Tracks[e.Track].Proc, tr.Corr(e)}]
		lane := laneOf[e.Track]
		if !ok || s == NoLane || lane == NoLane || s == lane {
			continue
		}
		if p := [2]LaneID{min(s, lane), max(s, lane)}; b.siblings(s, lane) {
			pairs = append(pairs, p)
		}
	}
	slices.SortFunc(pairs, func(x, y [2]LaneID) int { return slices.Compare(x[:], y[:]) })
	return slices.Compact(pairs)
}
