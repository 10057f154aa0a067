package cdg

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/trace"
)

// linkStreams finds the stream predecessor and the launch of every operation, and puts each stream into launch order.
func (b *builder) linkStreams() {
	d := b.d
	n := len(d.Acts)
	b.launch, b.pred, b.pos, b.graph = make([]ActID, n), make([]ActID, n), make([]int32, n), make([]bool, n)
	b.order = make([][]ActID, len(d.Lanes))
	for a := range d.Acts {
		b.launch[a], b.pred[a], b.pos[a] = NoAct, NoAct, -1
	}
	operations := n - int(b.firstOp)
	b.oneDevice = true
	b.byEnd = make([]ActID, 0, operations)
	b.found = make([]foundDep, 0, 2*operations+operations/8) // stream order, launch, and few others
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		lane.Host = lane.Proc
		if lane.Stream {
			b.linkStream(LaneID(l))
			b.oneDevice = b.oneDevice && lane.Proc == d.Lanes[len(d.Lanes)-1].Proc
		}
	}
	b.ofCall = make([]ActID, n)
	for a := range b.ofCall {
		b.ofCall[a] = NoAct
	}
	for a := b.firstOp; int(a) < n; a++ {
		if l := b.launch[a]; l != NoAct {
			b.ofCall[l] = a
		}
	}
	b.markGraphs()
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

func (b *builder) linkStream(l LaneID) {
	d := b.d
	lane := &d.Lanes[l]
	lane.Host = trace.NoProc
	best, pending := NoAct, NoAct // pending: best among those that start with the current one
	order := make([]ActID, 0, lane.Limit-lane.First)
	for a := lane.First; a < lane.Limit; a++ {
		act := &d.Acts[a]
		if pending != NoAct && d.Acts[pending].Start < act.Start {
			if best == NoAct || d.Acts[pending].End >= d.Acts[best].End {
				best = pending
			}
			pending = NoAct
		}
		if best != NoAct {
			b.pred[a] = best
			b.add(a, best, StreamOrder, ByStream)
		}
		// An operation without length cannot be entered; what it waited for is found from its successor.
		if act.End > act.Start && (pending == NoAct || act.End > d.Acts[pending].End) {
			pending = a
		}
		b.byEnd = append(b.byEnd, a)
		call := b.tr.Launch[act.Event]
		if call == trace.NoEvent || d.ActOf[call] == NoAct {
			b.quality["operations_without_launch"]++
			continue
		}
		launch := d.ActOf[call]
		b.launch[a] = launch
		b.add(a, launch, Launch, ByCorrelation)
		if lane.Host == trace.NoProc {
			lane.Host = d.Lanes[d.Acts[launch].Lane].Proc
		}
		if d.Acts[launch].Start > act.Start {
			b.quality["operations_before_their_launch"]++
		}
		order = append(order, a)
	}
	byLaunch := func(x, y ActID) int {
		lx, ly := b.launch[x], b.launch[y]
		return cmp.Or(cmp.Compare(d.Acts[lx].Start, d.Acts[ly].Start), cmp.Compare(b.event(lx).Corr, b.event(ly).Corr), cmp.Compare(x, y))
	}
	if !slices.IsSortedFunc(order, byLaunch) {
		slices.SortFunc(order, byLaunch)
	}
	for i, a := range order {
		b.pos[a] = int32(i)
	}
	b.order[l] = order
}

// markGraphs marks operations of calls that launched more than one, or that launch graphs.
func (b *builder) markGraphs() {
	for a := len(b.launch) - 1; a >= int(b.firstOp); a-- { // backwards: a call's last operation, ofCall, comes first
		l := b.launch[a]
		if l == NoAct {
			continue
		}
		if last := b.ofCall[l]; last != ActID(a) {
			b.graph[a], b.graph[last] = true, true
		} else if b.class(l) == graphLaunch {
			b.graph[a] = true
		}
	}
}

// callLess orders calls by their start; of calls that start together, in traces of whole µs, by correlation, which
// counts calls.
func (b *builder) callLess(x, y ActID) bool {
	ax, ay := &b.d.Acts[x], &b.d.Acts[y]
	if ax.Start != ay.Start {
		return ax.Start < ay.Start
	}
	return b.event(x).Corr < b.event(y).Corr
}

// lastLaunchedBefore returns the operation put last on a stream by a call before another call, or NoAct.
func (b *builder) lastLaunchedBefore(l LaneID, call ActID) ActID {
	order := b.order[l]
	n := sort.Search(len(order), func(i int) bool { return !b.callLess(b.launch[order[i]], call) })
	if n == 0 {
		return NoAct
	}
	return order[n-1]
}

// lastPutBefore is lastLaunchedBefore, but operations without a recorded launch that follow on the stream count as
// put before the call, as long as they ended by end.
func (b *builder) lastPutBefore(l LaneID, call ActID, end int64) ActID {
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

// orphanRuns finds ends in runs of operations without a recorded launch.
type orphanRuns struct {
	latest []int64 // per operation of a run: the latest end from the first of the run to it
	limit  []ActID // per first operation of a run: where the run is over
}

// orphanBefore returns the last operation, from the first of a run on, before one that ends after end.
func (b *builder) orphanBefore(first ActID, end int64) ActID {
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
func (b *builder) firstLaunchedAfter(l LaneID, call ActID) ActID {
	order := b.order[l]
	n := sort.Search(len(order), func(i int) bool { return b.callLess(call, b.launch[order[i]]) })
	if n == len(order) {
		return NoAct
	}
	return order[n]
}

// launchedBefore reports whether an operation was launched before t; one without a recorded launch always was.
func (b *builder) launchedBefore(a ActID, t int64) bool {
	l := b.launch[a]
	return l == NoAct || b.d.Acts[l].Start < t
}

// sameProcess reports whether work of two lanes can depend on each other.
func (b *builder) sameProcess(x, y LaneID) bool {
	hx, hy := b.d.Lanes[x].Host, b.d.Lanes[y].Host
	return hx == hy || hx == trace.NoProc || hy == trace.NoProc
}

// endsIn returns the range of byEnd with from < end <= to.
func (b *builder) endsIn(from, to int64) (lo, hi int) {
	after := func(t int64) int {
		return sort.Search(len(b.byEnd), func(i int) bool { return b.d.Acts[b.byEnd[i]].End > t })
	}
	return after(from), after(to)
}
