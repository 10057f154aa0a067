package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// walker goes back along the path.
type walker struct {
	g  *cdg.Graph
	tr *trace.Trace
	t0 int64

	place
	jumps   int
	busy    []cdg.Span           // when any stream ran; nil until it is asked for
	comm    func(trace.Sym) bool // tells communication kernels by name
	host    hostSet
	quality map[string]int

	segs    Segments
	eds     Edges
	sink    func(*Segment) // takes the segments instead of segs, and then nobody wants the edges; nil as a rule
	classes *ClassPieces   // the same of classes alone
}

// place is where a walk is: on an activity or a thread, and the time up to which the path is known.
type place struct {
	t     int64
	lane  cdg.LaneID
	act   cdg.ActID // on a stream: the operation that covers t; NoAct: find it
	piece int       // on a thread: index of the piece that ends at t; -1: find it

	waiting waitingSlice // what the last hand-off left behind
	still   int          // steps that were taken at t

	next trace.EventID // event that the path enters after what is emitted now
	step edgeStep      // how it gets there
	open Segment       // earliest of the path so far, which may grow; empty at first
}

// placeAt is a place at a time, of a walk that has nothing behind it.
func placeAt(t int64) place { return place{t: t, act: cdg.NoAct, piece: -1, next: trace.NoEvent} }

// waitingSlice is the slice in which a thread waited when the walk left it by a hand-off.
type waitingSlice struct {
	lane cdg.LaneID
	act  cdg.ActID
	ok   bool
}

// edgeStep describes the pending edge into walker.next.
type edgeStep struct {
	kind     EdgeType
	evidence cdg.Evidence
	toEnd    bool
	to       int64 // time at which the path enters next
}

// start puts the walk on the activity that ends last in the window.
func (w *walker) start() {
	g, end := w.g, w.g.Window.End
	best, latest := cdg.NoAct, w.t0
	for a := range g.Acts {
		act := &g.Acts[a]
		if act.End > end || act.End <= latest || act.Start == act.End {
			continue
		}
		latest = act.End - 1
		if best == cdg.NoAct || w.endsLater(cdg.ActID(a), best) {
			best = cdg.ActID(a)
		}
	}
	if best == cdg.NoAct {
		best = w.covering()
	}
	w.lane = g.Acts[best].Lane
	if g.Lanes[w.lane].Stream {
		w.act = best
		if g.Acts[best].End < w.t {
			w.emit(g.Acts[best].End, trace.NoEvent, Untraced, cdg.ByNothing)
		}
	}
}

// covering finds, where nothing ends in the window, the activity that runs at its end and started last; without one
// the first of all, whose lane has nothing to say about the window.
func (w *walker) covering() cdg.ActID {
	d, end, best := w.g, w.g.Window.End, cdg.ActID(0)
	found := false
	for a := range d.Acts {
		if act := &d.Acts[a]; act.Start < end && act.End > end && (!found || act.Start > d.Acts[best].Start) {
			best, found = cdg.ActID(a), true
		}
	}
	return best
}

// endsLater orders activities by end; at equal ends streams come after threads, and of threads that end together
// the one that launches more counts, then the slice that started last.
func (w *walker) endsLater(x, y cdg.ActID) bool {
	g := w.g
	ax, ay := &g.Acts[x], &g.Acts[y]
	if ax.End != ay.End {
		return ax.End > ay.End
	}
	if ax.Lane != ay.Lane {
		lx, ly := &g.Lanes[ax.Lane], &g.Lanes[ay.Lane]
		if lx.Stream != ly.Stream {
			return ly.Stream
		}
		if nx, ny := g.Launches(ax.Lane), g.Launches(ay.Lane); nx != ny {
			return nx > ny
		}
	}
	if ax.Start != ay.Start {
		return ax.Start > ay.Start
	}
	return x < y
}

// emit puts [from, t] on the path and goes back to from.
func (w *walker) emit(from int64, event trace.EventID, kind SegmentKind, by cdg.Evidence) {
	from = min(max(from, w.t0), w.t)
	if from == w.t {
		return
	}
	if event != trace.NoEvent {
		w.addEdge(event, w.t)
		w.step.to = from
	}
	w.fill(from, event, kind, by)
}

// fill is emit without an edge: the path does not count as having entered the event.
func (w *walker) fill(from int64, event trace.EventID, kind SegmentKind, by cdg.Evidence) {
	from = min(max(from, w.t0), w.t)
	if from == w.t {
		return
	}
	if w.classes != nil {
		w.classes.before(from, w.t, kind.Class())
		w.t = from
		return
	}
	track := w.g.Lanes[w.lane].Track
	if event != trace.NoEvent { // operations of a stream may be drawn on several rows
		track = w.tr.Events[event].Track
	}
	if s := &w.open; s.Event != event || s.Kind != kind || s.Track != track || s.Evidence != by || s.End == s.Start {
		w.close()
		// One by one: as a whole they go through a copy, and the processor waits until narrow writes can be read as a wide one.
		s.Start, s.End = w.t, w.t
		s.Event, s.Track, s.Kind, s.Evidence = event, track, kind, by
	}
	w.open.Start, w.t = from, from
}

// close puts the open segment on the tape.
func (w *walker) close() {
	switch {
	case w.open.End <= w.open.Start:
	case w.sink != nil:
		w.sink(&w.open)
	default:
		w.segs.add(&w.open)
	}
}

// addEdge adds the edge from an event that the path leaves at time t to the event that it enters.
func (w *walker) addEdge(event trace.EventID, t int64) {
	if w.classes != nil {
		return
	}
	if w.next != trace.NoEvent && w.next != event && w.sink == nil {
		from := &w.tr.Events[event]
		var e Edge // its fields are set one by one, as those of a segment are
		e.From, e.To, e.FromEnd, e.ToEnd = event, w.next, t >= w.tr.End(from), w.step.toEnd
		e.Type, e.Evidence, e.Weight = w.step.kind, w.step.evidence, max(0, w.step.to-t)
		if e.Type == OperatorEdge {
			e.Type, e.Weight = w.programEdge(event, w.next, e.Weight)
		}
		e.Row = w.tr.Events[event].Track == w.tr.Events[w.next].Track
		w.eds.add(&e)
	}
	w.next = event
	w.step = edgeStep{kind: OperatorEdge, evidence: cdg.ByProgram, to: t}
}

// programEdge tells a step between parent and child from one between neighbours.
func (w *walker) programEdge(from, to trace.EventID, gap int64) (EdgeType, int64) {
	a, b := w.g.ActOf[from], w.g.ActOf[to]
	if w.encloses(a, b) || w.encloses(b, a) {
		return OperatorEdge, 0
	}
	return DependencyEdge, gap
}

func (w *walker) encloses(a, b cdg.ActID) bool {
	x, y := &w.g.Acts[a], &w.g.Acts[b]
	return x.Start <= y.Start && x.End >= y.End
}

// enter sets the kind of the edge into the event that was emitted or named last.
func (w *walker) enter(kind EdgeType, by cdg.Evidence, toEnd bool, to int64) {
	w.step = edgeStep{kind, by, toEnd, to}
}

// goTo continues on a lane at the present time.
func (w *walker) goTo(lane cdg.LaneID, act cdg.ActID) {
	w.lane, w.act, w.piece = lane, act, -1
	w.jumps++
}

// giveUp closes the path when nothing goes on; invariants hold, and it is counted.
func (w *walker) giveUp() {
	w.quality["walk_gave_up"]++
	w.emit(w.t0, trace.NoEvent, Untraced, cdg.ByNothing)
}

func newWalker(g *graph.Graph, t int64) *walker {
	return &walker{g: g.Graph, tr: g.Trace, t0: g.Window.Start, place: placeAt(t), comm: g.Trace.ByName(vendors.IsCollective), host: newHostSet(g.Graph.Layout), quality: map[string]int{}}
}
