package cdg

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/par"
	"overlay/internal/trace"
)

// linker links operations of streams to each other and to their launches.
type linker struct{ *builder }

// linkStreams finds the stream predecessor and the launch of every operation, and puts each stream into launch order.
func (b linker) linkStreams() {
	d := b.d
	n := len(d.Acts)
	b.launch, b.pred, b.pos, b.graph, b.ofCall = make([]ActID, n), make([]ActID, n), make([]int32, n), make([]bool, n), make([]ActID, n)
	b.order = make([][]ActID, len(d.Lanes))
	par.EachRange(n, ranges(n, 0), func(_, from, to int) {
		for a := from; a < to; a++ {
			b.launch[a], b.pred[a], b.pos[a], b.ofCall[a] = NoAct, NoAct, -1, NoAct
		}
	})
	b.oneDevice = true
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		lane.Host = lane.Proc
		if lane.Stream {
			lane.Host = trace.NoProc
			b.oneDevice = b.oneDevice && lane.Proc == d.Lanes[len(d.Lanes)-1].Proc
			b.order[l] = make([]ActID, 0, lane.Limit-lane.First)
		}
	}
	b.linkRuns()
	par.Each(len(d.Lanes), func(l int) {
		b.sortLaunches(b.order[l])
		for i, a := range b.order[l] {
			b.pos[a] = int32(i)
		}
	})
	for a := b.firstOp; int(a) < n; a++ {
		if l := b.launch[a]; l != NoAct {
			b.ofCall[l] = a
		}
	}
}

// linkRuns links the operations of all streams, in runs side by side.
func (b linker) linkRuns() {
	d := b.d
	runs := b.streamRuns()
	par.Each(len(runs), func(i int) { runs[i].last = b.lastOf(&runs[i]) })
	for i := 1; i < len(runs); i++ {
		x, y := &runs[i-1], &runs[i]
		if y.before = NoAct; y.lane == x.lane {
			y.before = b.endsLast(x.before, x.last)
		}
	}
	operations := len(d.Acts) - int(b.firstOp)
	b.found = make([]foundDep, 2*operations, 2*operations+operations/8) // stream order, launch, and few others
	par.Each(len(runs), func(i int) {
		r := &runs[i]
		r.found = b.found[2*(r.from-b.firstOp) : 2*(r.from-b.firstOp) : 2*(r.to-b.firstOp)]
		b.linkRun(r)
	})
	b.found = b.found[:0]
	for i := range runs {
		r := &runs[i]
		b.found = append(b.found, r.found...) // further ahead in the same memory
		b.order[r.lane] = append(b.order[r.lane], r.launched...)
		if lane := &d.Lanes[r.lane]; lane.Host == trace.NoProc && len(r.launched) > 0 {
			lane.Host = d.Lanes[d.Acts[b.launch[r.launched[0]]].Lane].Proc
		}
		b.count("operations_without_launch", int(r.to-r.from)-len(r.launched))
		b.count("operations_before_their_launch", r.early)
	}
}

func (b linker) count(reason string, n int) {
	if n > 0 {
		b.quality[reason] += n
	}
}

// streamRun is a run of operations of a stream: all that start together with one of them are in it.
type streamRun struct {
	lane     LaneID
	from, to ActID
	before   ActID // of the stream's operations before the run, the one that ends last
	last     ActID // the same of those in it
	found    []foundDep
	launched []ActID // those with a recorded launch
	early    int     // those that start before their launch
}

func (b linker) streamRuns() (runs []streamRun) {
	d := b.d
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if !lane.Stream {
			continue
		}
		from := lane.First
		size := max(1, (lane.Limit-lane.First)/ActID(ranges(int(lane.Limit-lane.First), 0)))
		for from < lane.Limit {
			to := min(from+size, lane.Limit)
			for to < lane.Limit && d.Acts[to].Start == d.Acts[to-1].Start {
				to++
			}
			runs = append(runs, streamRun{lane: LaneID(l), from: from, to: to, before: NoAct})
			from = to
		}
	}
	return runs
}

// endsLast is the one of two operations, the second of which starts later, that ends last.
func (b linker) endsLast(x, y ActID) ActID {
	if x == NoAct || y != NoAct && b.d.Acts[y].End >= b.d.Acts[x].End {
		return y
	}
	return x
}

// follower follows the operations of a stream. One without length cannot be entered; what it waited for is found from its
// successor.
type follower struct {
	best    ActID // of the operations that started before the current one, the one that ends last
	pending ActID // of those that start together with it
}

// reach goes on to the start of an operation, and says which one came before it.
func (f *follower) reach(b linker, act *Act) ActID {
	if f.pending != NoAct && b.d.Acts[f.pending].Start < act.Start {
		f.best, f.pending = b.endsLast(f.best, f.pending), NoAct
	}
	return f.best
}

func (f *follower) enter(b linker, a ActID, act *Act) {
	if act.End > act.Start && (f.pending == NoAct || act.End > b.d.Acts[f.pending].End) {
		f.pending = a
	}
}

func (b linker) lastOf(r *streamRun) ActID {
	f := follower{NoAct, NoAct}
	for a := r.from; a < r.to; a++ {
		act := &b.d.Acts[a]
		f.reach(b, act)
		f.enter(b, a, act)
	}
	return b.endsLast(f.best, f.pending)
}

func (b linker) linkRun(r *streamRun) {
	d := b.d
	f := follower{r.before, NoAct}
	r.launched = make([]ActID, 0, r.to-r.from)
	for a := r.from; a < r.to; a++ {
		act := &d.Acts[a]
		if before := f.reach(b, act); before != NoAct {
			b.pred[a] = before
			if !b.o.without(StreamOrder) {
				r.found = append(r.found, foundDep{a, dep{before, StreamOrder, ByStream}})
			}
		}
		f.enter(b, a, act)
		call := b.tr.Launch(act.Event)
		if call == trace.NoEvent || d.ActOf[call] == NoAct {
			continue
		}
		launch := d.ActOf[call]
		b.launch[a] = launch
		if !b.o.without(Launch) {
			r.found = append(r.found, foundDep{a, dep{launch, Launch, ByCorrelation}})
		}
		if d.Acts[launch].Start > act.Start {
			r.early++
		}
		r.launched = append(r.launched, a)
	}
}

// sortLaunches puts the operations of a stream into the order of their launches.
func (b linker) sortLaunches(order []ActID) {
	byLaunch := func(x, y ActID) int {
		lx, ly := b.launch[x], b.launch[y]
		return cmp.Or(cmp.Compare(b.d.Acts[lx].Start, b.d.Acts[ly].Start), cmp.Compare(b.tr.Corr(b.event(lx)), b.tr.Corr(b.event(ly))), cmp.Compare(x, y))
	}
	if !slices.IsSortedFunc(order, byLaunch) {
		slices.SortFunc(order, byLaunch)
	}
}

// sortEnds puts operations into the order in which they end, all of them and stream by stream.
func (b linker) sortEnds() {
	d := b.d
	b.byEnd = make([]ActID, len(d.Acts)-int(b.firstOp))
	for i := range b.byEnd {
		b.byEnd[i] = b.firstOp + ActID(i)
	}
	SortRuns(b.byEnd, func(x, y *ActID) bool {
		ax, ay := &d.Acts[*x], &d.Acts[*y]
		if ax.End != ay.End {
			return ax.End < ay.End
		}
		return ax.Start < ay.Start || ax.Start == ay.Start && *x < *y
	})
	b.endsOf = make([][]ActID, len(d.Lanes))
	for l := range d.Lanes {
		if lane := &d.Lanes[l]; lane.Stream {
			b.endsOf[l] = make([]ActID, 0, lane.Limit-lane.First)
		}
	}
	for _, a := range b.byEnd {
		l := d.Acts[a].Lane
		b.endsOf[l] = append(b.endsOf[l], a)
	}
}

// markGraphs marks operations of calls that launched more than one, or that launch graphs.
func (b linker) markGraphs() {
	operations := len(b.launch) - int(b.firstOp)
	last := make([][]ActID, ranges(operations, 0)) // per range: the last operations of calls that launched more
	par.EachRange(operations, len(last), func(part, from, to int) {
		for a := b.firstOp + ActID(from); a < b.firstOp+ActID(to); a++ {
			if l := b.launch[a]; l != NoAct && b.ofCall[l] != a {
				b.graph[a] = true
				last[part] = append(last[part], b.ofCall[l])
			} else if l != NoAct && b.class(l) == graphLaunch {
				b.graph[a] = true
			}
		}
	})
	for _, list := range last {
		for _, a := range list {
			b.graph[a] = true
		}
	}
}

// lastLaunchedBefore returns the operation put last on a stream by a call before another call, or NoAct.
func (b *facts) lastLaunchedBefore(l LaneID, call ActID) ActID {
	order := b.order[l]
	n := sort.Search(len(order), func(i int) bool { return !b.callLess(b.launch[order[i]], call) })
	if n == 0 {
		return NoAct
	}
	return order[n-1]
}

// lastPutBefore is lastLaunchedBefore, but operations without a recorded launch that follow on the stream count as
// put before the call, as long as they ended by end.
func (b *facts) lastPutBefore(l LaneID, call ActID, end int64) ActID {
	x := b.lastLaunchedBefore(l, call)
	next := x + 1
	if x == NoAct {
		next = b.d.Lanes[l].First
	}
	for a := next; a < b.d.Lanes[l].Limit && b.launch[a] == NoAct && b.d.Acts[a].End <= end; a++ {
		if x = a; a == next+shortRun {
			return b.orphanBefore(next, end)
		}
	}
	return x
}

// shortRun is the number of operations without a recorded launch that are looked at one by one.
const shortRun = 8

// orphanBefore returns the last operation, from the first of a run on, before one that ends after end.
func (b *facts) orphanBefore(first ActID, end int64) ActID {
	r := &b.orphans
	if r.latest == nil {
		r.latest, r.limit = make([]int64, len(b.d.Acts)), make([]ActID, len(b.d.Acts))
		for l := range b.d.Lanes {
			lane := &b.d.Lanes[l]
			run := NoAct
			for a := lane.First; lane.Stream && a < lane.Limit; a++ {
				if b.launch[a] != NoAct {
					run = NoAct
					continue
				}
				r.latest[a] = b.d.Acts[a].End
				if run == NoAct {
					run = a
				} else {
					r.latest[a] = max(r.latest[a], r.latest[a-1])
				}
				r.limit[run] = a + 1
			}
		}
	}
	n := sort.Search(int(r.limit[first]-first), func(i int) bool { return r.latest[first+ActID(i)] > end })
	return first + ActID(n) - 1
}

// firstLaunchedAfter returns the operation put first on a stream by a call after another call, or NoAct.
func (b *facts) firstLaunchedAfter(l LaneID, call ActID) ActID {
	order := b.order[l]
	n := sort.Search(len(order), func(i int) bool { return b.callLess(call, b.launch[order[i]]) })
	if n == len(order) {
		return NoAct
	}
	return order[n]
}

// launchedBefore reports whether an operation was launched before t; one without a recorded launch always was.
func (b *facts) launchedBefore(a ActID, t int64) bool {
	l := b.launch[a]
	return l == NoAct || b.d.Acts[l].Start < t
}

// waitCalls returns the cudaStreamWaitEvent calls of the process between the launch before an operation on its stream
// and its own launch, in time order. Any thread may make them.
func (b *facts) waitCalls(a ActID) []ActID {
	call := b.launch[a]
	if call == NoAct {
		return nil
	}
	d := b.d
	waits := b.waits[d.Lanes[d.Acts[call].Lane].Proc]
	if len(waits) == 0 {
		return nil
	}
	lo := 0
	if i := b.pos[a]; i > 0 {
		before := b.launch[b.order[d.Acts[a].Lane][i-1]]
		lo = sort.Search(len(waits), func(i int) bool { return b.callLess(before, waits[i]) })
	}
	hi := sort.Search(len(waits), func(i int) bool { return !b.callLess(waits[i], call) })
	return waits[lo:max(lo, hi)]
}
