package cdg

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/stat"
	"overlay/internal/trace"
)

const (
	longWait    = 20 * us // a wait of a thread of which somebody may know the end
	resultTimes = 2       // waits at a place that have to end with results which another thread took, to say that it hands them on
	resultShare = 0.6     // of the waits at the place
	resultAhead = 4       // results on their way at most
)

// result is what a thread took from the GPU for another one: when that one launched it, and when the work of the first with it ended.
type result struct{ launched, ended int64 }

// endOf returns when the work with the result ended that a wait which began at a time is for; false without one. Results are taken in the
// order in which they were launched, and as many are on their way at each wait.
func (e *ender) endOf(from int64) (int64, bool) {
	n := sort.Search(len(e.results), func(i int) bool { return e.results[i].launched >= from }) - e.ahead
	if n < 0 {
		return 0, false
	}
	return e.results[n].ended, true
}

// ends reports whether a wait over (from, to] is one that the work which ended at t has ended. Where the way of a result is long, the
// other thread may begin to wait while the result is on its way.
func (e *ender) ends(t, from, to int64) bool {
	late := to - t
	return late >= 0 && (t > from || 2*late >= e.usual && late <= 2*e.usual)
}

var resultsRule = rule{name: "results handed on", find: func(b *builder) { pairer{b}.learnEnders() }}

// learnEnders finds threads that take results for others. Such a thread blocks until operations are over that another one has launched,
// and while it does so that other one waits, at the same place time and again, and goes on soon after. The two need not take turns: a
// thread that is blocked does not work. A server's thread that waits for the tokens of a step and hands them on is one, as vLLM's
// WorkerAsyncOutputCopy.
func (b pairer) learnEnders() {
	d := b.d
	b.enders = make([][]ender, len(d.Lanes))
	taken := map[[2]LaneID][]result{} // by who waited for results and who had launched
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
		if x == y || d.Lanes[x].Proc != d.Lanes[y].Proc || b.doesCollectives(y) {
			continue
		}
		key := [2]LaneID{y, x}
		if taken[key] == nil {
			pairs = append(pairs, key)
		}
		taken[key] = append(taken[key], result{d.Acts[call].Start, b.worksUntil(y, d.Acts[f.to].End)})
	}
	for _, key := range pairs {
		if y, x := key[0], key[1]; 4*len(taken[key]) >= 3*calls[y] {
			b.enders[x] = append(b.enders[x], b.handsOn(y, x, taken[key])...)
		}
	}
}

// handsOn returns where thread x waits for results that thread y took.
func (b pairer) handsOn(y, x LaneID, results []result) (found []ender) {
	d := b.d
	slices.SortFunc(results, func(p, q result) int { return cmp.Compare(p.launched, q.launched) })
	framed, waits := b.waitsInFrames(x), map[place][]Span{}
	var places []place
	for i := int(d.PieceFirst[x]); i+1 < int(d.PieceFirst[x+1]); i++ {
		at, ok := b.placeOf(x, i)
		if !ok || framed && !at.frame || d.Pieces[i+1].Start-d.Pieces[i].Start < longWait {
			continue
		}
		if waits[at] == nil {
			places = append(places, at)
		}
		waits[at] = append(waits[at], Span{d.Pieces[i].Start, d.Pieces[i+1].Start})
	}
	for _, during := range []bool{true, false} {
		for _, at := range places {
			for ahead := 1; ahead <= resultAhead; ahead++ {
				e := ender{lane: y, place: at, results: results, ahead: ahead}
				if e.learn(waits[at], during) {
					found = append(found, e)
					break
				}
			}
		}
		if found != nil {
			break // each result is taken once
		}
	}
	return found
}

// learn measures how long results take to waits, and tells whether they end them: they come while waits last, or else waits end
// more regularly after results than after they began.
func (e *ender) learn(waits []Span, during bool) bool {
	var delays, durations []int64
	known, early, hits := 0, 0, 0
	for _, w := range waits {
		t, ok := e.endOf(w.Start)
		switch {
		case !ok:
			continue
		case t > w.End:
			early++
		case t > w.Start || !during:
			delays, durations = append(delays, w.End-t), append(durations, w.End-w.Start)
		}
		known++
	}
	if len(delays) < resultTimes {
		return false
	}
	e.usual = quantile(delays, 0.5)
	if 10*early > known || !during && (len(delays) < 2*resultTimes || 2*stat.Spread(delays, e.usual) > stat.Spread(durations, quantile(durations, 0.5))) {
		return false
	}
	for _, w := range waits {
		if t, ok := e.endOf(w.Start); ok && e.ends(t, w.Start, w.End) {
			hits++
		}
	}
	return float64(hits) >= resultShare*float64(known)
}

// waitsInFrames reports whether Python's frames were recorded in which a thread waits: it waits nowhere else.
func (b pairer) waitsInFrames(l LaneID) bool {
	return slices.ContainsFunc(b.d.Acts[b.d.Lanes[l].First:b.d.Lanes[l].Limit], func(x Act) bool {
		e := &b.tr.Events[x.Event]
		return e.Kind == trace.Python && WaitingFrame(b.tr.Str(e.Name))
	})
}

// placeOf is where a thread waits in a piece that another one follows; false when it does not wait there for another thread.
func (b *builder) placeOf(lane LaneID, piece int) (place, bool) {
	d := b.d
	owner, next := d.Pieces[piece].Owner, d.Pieces[piece+1].Owner
	if next == NoAct || !d.waits(lane, piece) || owner != NoAct && d.blocks(owner) {
		return place{}, false
	}
	at := place{marker: owner != NoAct, frame: owner != NoAct && b.event(owner).Kind == trace.Python}
	if !d.Marker(next) {
		at.before = b.event(next).Name
	}
	return at, true
}

// worksUntil returns when the work of a thread ends that goes on at t, or ended then.
func (b pairer) worksUntil(l LaneID, t int64) int64 {
	busy := b.threads[l].busy
	n := sort.Search(len(busy), func(i int) bool { return busy[i].End >= t })
	if n < len(busy) && busy[n].Start <= t {
		return busy[n].End
	}
	return t
}
