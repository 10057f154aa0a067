package overlay

import (
	"math"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// inputArrows are the arrows that the input itself draws, as pairs of events: a start and an end that share id, name
// and category, each bound to the innermost activity around it. They count in the size of a component.
func inputArrows(y *graph.Layout, keep []bool) [][2]int32 {
	tr := y.Trace
	drawn := func(i int) bool {
		e := &tr.Events[i]
		return trace.IsFlow(e.Ph) && e.Track != trace.NoTrack && (keep == nil || keep[i])
	}
	starts, ends := 0, 0
	for i := range tr.Events {
		switch {
		case !drawn(i):
		case tr.Events[i].Ph == 's':
			starts++
		default:
			ends++
		}
	}
	if starts == 0 || ends == 0 {
		return nil
	}
	slots := trace.NewFlowSlots(tr, starts) // each with the last start of its flow in the file
	flowEnds := make([]int32, 0, ends)
	for i := range tr.Events {
		switch {
		case !drawn(i):
		case tr.Events[i].Ph == 's':
			slots.Flow[slots.Slot(int32(i))] = int32(i) + 1
		default:
			flowEnds = append(flowEnds, int32(i))
		}
	}
	f := finder{d: y, last: make([]int32, len(y.Lanes)), now: make([]int64, len(y.Lanes)), over: map[cdg.ActID]cdg.ActID{}}
	for l := range f.now {
		f.now[l] = math.MinInt64
	}
	lanes := lanesByToken(y)
	out := make([][2]int32, 0, ends)
	for _, end := range flowEnds {
		start := slots.Flow[slots.Slot(end)] - 1
		if start < 0 {
			continue
		}
		e := &tr.Events[end]
		s := &tr.Events[start]
		from, to := f.around(lanes[s.Track], s.Start), f.around(lanes[e.Track], e.Start)
		if from != trace.NoEvent && to != trace.NoEvent && from != to {
			out = append(out, [2]int32{int32(from), int32(to)})
		}
	}
	return out
}

// lanesByToken gives for each track the lanes that share its pid and tid: flows may stand on a row of their own.
func lanesByToken(y *graph.Layout) [][]cdg.LaneID {
	type row struct{ pid, tid trace.Token }
	tr := y.Trace
	of := func(t trace.TrackID) row { return row{tr.Procs[tr.Tracks[t].Proc].PID.Key(), tr.Tracks[t].TID.Key()} }
	lanes := map[row][]cdg.LaneID{}
	for l := range y.Lanes {
		r := of(y.Lanes[l].Track)
		lanes[r] = append(lanes[r], cdg.LaneID(l))
	}
	out := make([][]cdg.LaneID, len(tr.Tracks))
	for t := range out {
		out[t] = lanes[of(trace.TrackID(t))]
	}
	return out
}

// finder looks up activities by time, beginning where it found the last one: flows stand in the file in order of time,
// or nearly so.
type finder struct {
	d    *graph.Layout
	last []int32 // per lane: how many of its activities had started

	now  []int64                 // per lane: the latest time at which over was told
	over map[cdg.ActID]cdg.ActID // activities that had ended: what encloses them and had not
}

// around is the innermost activity of the lanes that covers t, ends included.
func (f *finder) around(lanes []cdg.LaneID, t int64) trace.EventID {
	d := f.d
	for _, l := range lanes {
		first := d.Lanes[l].First
		a := first + cdg.ActID(f.started(l, t)) - 1
		if a < first {
			continue
		}
		if a = f.open(l, a, t); a != cdg.NoAct {
			return d.Acts[a].Event
		}
	}
	return trace.NoEvent
}

// longClimb is how far up it goes before it pays to remember where that led.
const longClimb = 8

// open returns the innermost of an activity and what encloses it that has not ended before t. What is over stays over:
// as long as time goes forward, none climbs twice what has ended.
func (f *finder) open(l cdg.LaneID, a cdg.ActID, t int64) cdg.ActID {
	d := f.d
	above := func(a cdg.ActID) cdg.ActID {
		if up, known := f.over[a]; known && t >= f.now[l] {
			return up
		}
		return d.Parent[a]
	}
	from, steps := a, 0
	for a != cdg.NoAct && d.Acts[a].End < t {
		a = above(a)
		steps++
	}
	if steps < longClimb || t < f.now[l] {
		return a
	}
	for b := from; b != a; {
		b, f.over[b] = above(b), a
	}
	f.now[l] = t
	return a
}

// started counts the activities of a lane that start at t or before.
func (f *finder) started(l cdg.LaneID, t int64) int {
	acts := f.d.Acts[f.d.Lanes[l].First:f.d.Lanes[l].Limit]
	var low, high int // low have started, those from high on have not
	step := 8
	if at := int(f.last[l]); at < len(acts) && acts[at].Start <= t {
		for low = at + 1; low+step < len(acts) && acts[low+step].Start <= t; step *= 2 {
			low += step
		}
		high = min(low+step, len(acts))
	} else {
		for high = at; high-step > 0 && acts[high-step].Start > t; step *= 2 {
			high -= step
		}
		low = max(high-step, 0)
	}
	n := low + sort.Search(high-low, func(i int) bool { return acts[low+i].Start > t })
	f.last[l] = int32(n)
	return n
}
