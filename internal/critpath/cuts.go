package critpath

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/par"
)

// How a long walk is cut. Tests cut short ones.
var (
	stretchActs = 1 << 15 // activities of the trace for each stretch, at least
	meetWithin  = 1 << 11 // steps until two walks meet, at most
)

const mostStretches = 8 // each takes a bit for every event of the trace

// stretch is a part of a walk. It begins where a walk is first earlier than a time.
type stretch struct {
	*walker
	before int64 // that time, ns
	began  place // where it began
}

// cuts begins the stretches of the walk from the end of the window to its start, the latest first. A long walk is cut at places where
// two walks meet that began at one time on different lanes: the path is likely to come through there, too.
func cuts(g *graph.Graph) []stretch {
	all := make([]stretch, min(par.Ranges(len(g.Acts), stretchActs), mostStretches))
	thread, stream := busiest(g)
	par.Each(len(all), func(i int) {
		if i == 0 {
			all[0].walker = newWalker(g, g.Window.End)
			all[0].start()
		} else if thread != cdg.NoLane && stream != cdg.NoLane {
			l := &g.Lanes[thread]
			at := l.First + (l.Limit-l.First)/cdg.ActID(len(all))*cdg.ActID(len(all)-i)
			all[i] = meet(g, g.Acts[at].Start, thread, stream)
		}
	})
	return slices.DeleteFunc(all, func(s stretch) bool { return s.walker == nil })
}

// walk walks stretches side by side. Where one does not end at just the place where the next began, it goes on in that one's stead:
// so together they are the one walk, wherever it was cut.
func walk(g *graph.Graph, cut []stretch) []stretch {
	end := func(i int) int64 { // of stretch i: it goes on until it is earlier
		if i+1 < len(cut) {
			return cut[i+1].before
		}
		return g.Window.Start + 1
	}
	par.Each(len(cut), func(i int) {
		cut[i].began = cut[i].settled()
		cut[i].tally = &tally{on: NewEventSet(len(g.Trace.Events))}
		cut[i].back(end(i))
	})
	joined := cut[:1:1]
	for i := 1; i < len(cut); i++ {
		if last := joined[len(joined)-1]; last.settled() == cut[i].began {
			joined = append(joined, cut[i])
		} else {
			last.back(end(i))
		}
	}
	return joined
}

// busiest returns the thread and the stream with most activities, or NoLane.
func busiest(g *graph.Graph) (thread, stream cdg.LaneID) {
	size := func(l cdg.LaneID) cdg.ActID { return g.Lanes[l].Limit - g.Lanes[l].First }
	thread, stream = cdg.NoLane, cdg.NoLane
	for l := range cdg.LaneID(len(g.Lanes)) {
		best := &thread
		if g.Lanes[l].Stream {
			best = &stream
		}
		if *best == cdg.NoLane || size(l) > size(*best) {
			*best = l
		}
	}
	return thread, stream
}

// meet begins a stretch where two walks meet that begin just before a time, on a thread and on a stream. It has no walker where they
// do not meet soon.
func meet(g *graph.Graph, at int64, thread, stream cdg.LaneID) stretch {
	x, y := runUp(g, at), runUp(g, at)
	piece, op := g.PieceAt(thread, at), y.lastBefore(stream, at)
	if piece < 0 || op < g.Lanes[stream].First {
		return stretch{}
	}
	x.lane, x.t = thread, g.Pieces[piece].Start
	y.lane, y.t = stream, g.Acts[op].Start
	if y.t > y.t0 {
		y.released(op)
	}
	for range meetWithin {
		if min(x.t, y.t) <= x.t0 {
			break
		}
		if x.t == y.t && x.settled() == y.settled() {
			return x.begin()
		}
		if x.t < y.t {
			x, y = y, x
		}
		x.advance()
	}
	return stretch{}
}

// runUp is a walker that keeps nothing of its way until it begins a stretch.
func runUp(g *graph.Graph, t int64) *walker {
	w := newWalker(g, t)
	w.sink = func(*Segment) {}
	return w
}

// begin goes on to where the walk is earlier than now, and begins a stretch there, unless that is the start of the window.
func (w *walker) begin() stretch {
	before := w.t
	if w.back(before); w.t <= w.t0 {
		return stretch{}
	}
	w.sink, w.quality = nil, map[string]int{}
	return stretch{walker: w, before: before}
}
