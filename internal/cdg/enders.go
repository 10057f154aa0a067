package cdg

import (
	"slices"
)

const (
	longWait    = 20 * us // a wait of a thread of which somebody may know the end
	resumed     = 100 * us
	resultTimes = 2   // waits at a place that have to end with results which another thread took, to say that it hands them on
	resultShare = 0.6 // of the waits at the place
)

// ends reports whether a wait over (from, to] is one that the work which ended at t has ended. Where the way of a result is long, the
// other thread may begin to wait while the result is on its way.
func (e *ender) ends(t, from, to int64) bool {
	late := to - t
	return t > from && t <= to && late <= e.within || 2*late >= e.usual && late <= 2*e.usual
}

var resultsRule = rule{name: "results handed on", find: func(b *builder) { pairer{b}.learnEnders() }}

// learnEnders finds threads that take results for others. Such a thread blocks until operations are over that another one has launched,
// and while it does so that other one waits, at the same place time and again, and goes on soon after. The two need not take turns: a
// thread that is blocked does not work. A server's thread that waits for the tokens of a step and hands them on is one, as vLLM's
// WorkerAsyncOutputCopy.
func (b pairer) learnEnders() {
	d := b.d
	b.enders = make([][]ender, len(d.Lanes))
	taken := map[[2]LaneID][]int64{} // by who waited for results and who had launched: when the work of the first ended
	calls := map[LaneID]int{}
	var pairs [][2]LaneID
	for i := range b.found {
		f := &b.found[i]
		call := b.launch[f.From]
		if f.Rule != Sync || call == NoAct {
			continue
		}
		y, x := d.Acts[f.to].Lane, d.Acts[call].Lane
		calls[y]++
		if x == y || d.Lanes[x].Proc != d.Lanes[y].Proc {
			continue
		}
		key := [2]LaneID{y, x}
		if taken[key] == nil {
			pairs = append(pairs, key)
		}
		taken[key] = append(taken[key], b.worksUntil(y, d.Acts[f.to].End))
	}
	for _, key := range pairs {
		if y, x := key[0], key[1]; 4*len(taken[key]) >= 3*calls[y] {
			b.enders[x] = append(b.enders[x], b.handsOn(y, x, taken[key])...)
		}
	}
}

// handsOn returns where thread x waits for results that thread y took, whose work ended at such times, ascending.
func (b pairer) handsOn(y, x LaneID, ends []int64) (found []ender) {
	d := b.d
	slices.Sort(ends)
	type wait struct{ from, to, end int64 } // end is when that work ended last
	waits, delays := map[place][]wait{}, map[place][]int64{}
	var places []place
	for i := int(d.PieceFirst[x]); i+1 < int(d.PieceFirst[x+1]); i++ {
		from, to := d.Pieces[i].Start, d.Pieces[i+1].Start
		at, ok := b.placeOf(x, i)
		n, _ := slices.BinarySearch(ends, to+1)
		if !ok || to-from < longWait || n == 0 || from > ends[len(ends)-1] {
			continue
		}
		if waits[at] == nil {
			places = append(places, at)
		}
		w := wait{from, to, ends[n-1]}
		waits[at] = append(waits[at], w)
		if w.end > from {
			delays[at] = append(delays[at], to-w.end)
		}
	}
	for _, at := range places {
		if len(delays[at]) < resultTimes {
			continue
		}
		usual := quantile(delays[at], 0.5)
		e, hits := ender{y, at, usual, max(resumed, 3*usual)}, 0
		for _, w := range waits[at] {
			if e.ends(w.end, w.from, w.to) {
				hits++
			}
		}
		if float64(hits) >= resultShare*float64(len(waits[at])) {
			found = append(found, e)
		}
	}
	return found
}

// placeOf is where a thread waits in a piece that another one follows; false when it does not wait there for another thread.
func (b *builder) placeOf(lane LaneID, piece int) (place, bool) {
	d := b.d
	owner, next := d.Pieces[piece].Owner, d.Pieces[piece+1].Owner
	if next == NoAct || !d.waits(lane, piece) || owner != NoAct && d.blocks(owner) {
		return place{}, false
	}
	at := place{marker: owner != NoAct}
	if !d.Marker(next) {
		at.before = b.event(next).Name
	}
	return at, true
}

// worksUntil returns when the work of a thread ends that goes on at t, or ended then.
func (b pairer) worksUntil(l LaneID, t int64) int64 {
	busy := b.threads[l].busy
	n, _ := slices.BinarySearchFunc(busy, t, func(s Span, t int64) int {
		if s.End < t {
			return -1
		}
		return 1
	})
	if n < len(busy) && busy[n].Start <= t {
		return busy[n].End
	}
	return t
}
