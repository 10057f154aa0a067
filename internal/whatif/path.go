package whatif

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Path returns the simulated run as a graph of its own, and its critical path: what critpath and the reports say of a
// run they say of this one as well. Its activities are those of the recording, in the same places of the same slices, at
// the times of the replay. Of the waits it has those that bind then. Events of the trace keep their recorded times.
func (r *Result) Path() (*graph.Graph, *critpath.Path, error) {
	g := r.Graph(r.Times())
	p, err := critpath.Exact(g)
	return g, p, err
}

// room is what the graph of a simulated run is made in.
type room struct {
	acts  []cdg.Act
	first []int32
	waits []cdg.Wait
	begin []int32 // PieceFirst
	piece []cdg.Piece
	in    []cdg.Inside
}

// roomFor has room for the graphs of a model, and all that is the same in each.
func (m *Model) room() *room {
	g := m.g
	x := &room{slices.Clone(g.Acts), make([]int32, len(g.Acts)+1), make([]cdg.Wait, 0, len(m.at)), make([]int32, 0, len(g.Lanes)+1), make([]cdg.Piece, 0, len(g.Pieces)), nil}
	for a := int(m.firstOp); a < len(g.Acts); a++ { // an operation has what bound it, and no other wait
		x.first[a+1] = x.first[a] + 1
	}
	return x
}

// Graph makes the graph of the simulated run from its times.
func (r *Result) Graph(t *Times) *graph.Graph { return r.graph(t, r.m.room()) }

// graph is Graph in the room of an earlier one.
func (r *Result) graph(t *Times, x *room) *graph.Graph {
	m := r.m
	y, d, g := *m.g.Graph.Layout, *m.g.Graph, *m.g
	d.Layout, g.Graph = &y, &d
	y.Window.End = m.t0 + r.Window
	y.Acts = x.acts
	start, end, then := t.of.start, t.of.end, t.then
	for a := range y.Acts {
		if act := &y.Acts[a]; a < len(start) && start[a] >= 0 && end[a] >= 0 {
			act.Start, act.End = then[start[a]], then[end[a]]
		} else {
			act.Start, act.End = t.Act(cdg.ActID(a))
		}
	}
	y.Steps = slices.Clone(m.g.Steps)
	for i := range y.Steps {
		s := &y.Steps[i]
		if a := y.ActOf[s.Event]; a != cdg.NoAct {
			s.Start, s.End = t.Thread(y.Acts[a].Lane, s.Start), t.Thread(y.Acts[a].Lane, s.End)
		}
	}
	if n := len(y.Steps); n > 0 && y.Steps[n-1].Of.Type != trace.NoIteration { // ends with what it launched
		last, before := &y.Steps[n-1], &m.g.Steps[n-1]
		if a := y.ActOf[last.Event]; a != cdg.NoAct && m.g.Acts[a].End < before.End {
			last.End = y.Acts[a].End
			for k := range y.Acts {
				if x := &m.g.Acts[k]; m.g.Lanes[x.Lane].Stream && x.End > before.Start && x.End <= before.End {
					last.End = max(last.End, y.Acts[k].End)
				}
			}
		}
	}
	d.First, d.Waits, d.Pieces, d.PieceFirst, d.Inside = x.first, x.waits[:0], x.piece[:0], append(x.begin[:0], 0), x.in[:0]
	for a := m.firstOp; int(a) < len(y.Acts); a++ {
		d.Waits = append(d.Waits, r.released(a, y.Acts[a].Start))
	}
	for l := range y.Lanes {
		if !y.Lanes[l].Stream {
			r.moveThread(&d, cdg.LaneID(l), t)
		}
		d.PieceFirst = append(d.PieceFirst, int32(len(d.Pieces)))
	}
	order := func(x, y cdg.Inside) int { return cmp.Or(cmp.Compare(x.Lane, y.Lane), cmp.Compare(x.At, y.At)) }
	slices.SortStableFunc(d.Inside, order)
	d.Inside = slices.CompactFunc(d.Inside, func(x, y cdg.Inside) bool { return order(x, y) == 0 })
	x.waits, x.piece, x.begin, x.in = d.Waits, d.Pieces, d.PieceFirst, d.Inside
	return &g
}

// released is what bound the start of an operation.
func (r *Result) released(a cdg.ActID, start int64) cdg.Wait {
	m := r.m
	p := m.pointOf(a)
	if p == none || m.g.Acts[a].Start <= m.t0 || r.by[p] == none {
		w := cdg.Wait{At: start, From: cdg.NoAct, Rule: cdg.Unexplained, Evidence: cdg.ByNothing, Bound: true}
		if p != none && r.by[p] != none {
			w = *m.g.Release(a) // of an operation that runs when the window begins: as it was
		}
		return w
	}
	return r.wait(p, start)
}

// wait is the source of a point that was over last, as a wait.
func (r *Result) wait(p int32, at int64) cdg.Wait {
	m := r.m
	d := &r.plan.deps[r.by[p]]
	w := cdg.Wait{At: at, From: cdg.NoAct, Rule: cdg.Unexplained, Evidence: cdg.ByNothing, Bound: true}
	wait := m.waitOf(d)
	if wait != none {
		x := &m.g.Waits[wait]
		w.From, w.Rule, w.Evidence, w.Note = x.From, x.Rule, x.Evidence, x.Note
	}
	src := r.source(p)
	if src > 0 {
		w.At = min(r.end[src], at)
		if wait == none || d.flag&moving != 0 {
			w.From, w.Rule, w.Evidence = m.act[src], d.rule, cdg.ByAPI
		}
	} else if w.From != cdg.NoAct { // it lies before the window
		w.At = min(m.g.Waits[wait].At, at)
	}
	w.Lag = at - w.At
	return w
}

// source is the point that a point waited for last; 0 for the origin.
func (r *Result) source(p int32) int32 {
	d := &r.plan.deps[r.by[p]]
	if d.flag&moving != 0 {
		return r.m.lastPut(&r.m.beside[d.wait], r.end, p)
	}
	return d.src
}

// moveThread gives the pieces of a thread their times and reasons. Of pieces that begin at one instant, since what they
// hold takes no time any more, the last one stays; its reason is the first one's, which is why the piece before is over.
func (r *Result) moveThread(d *cdg.Graph, l cdg.LaneID, t *Times) {
	m := r.m
	x := t.of
	start := len(d.Pieces)
	for i := m.g.PieceFirst[l]; i < m.g.PieceFirst[l+1]; i++ {
		recorded, point := m.g.Pieces[i].Start, x.point[i]
		at := t.moment(x.piece[i], l, recorded)
		if n := len(d.Pieces); n > start && d.Pieces[n-1].Start == at {
			d.Pieces[n-1].Owner = m.g.Pieces[i].Owner
			continue
		}
		id := cdg.NoWait
		switch {
		case recorded <= m.t0 || recorded > m.t1:
			id = r.kept(d, i, at)
		case point != none && r.by[point] != none && r.plan.deps[r.by[point]].flag&silent == 0:
			d.Waits = append(d.Waits, r.wait(point, at))
			id = cdg.WaitID(len(d.Waits) - 1)
		case len(d.Pieces) == start:
			d.Waits = append(d.Waits, cdg.Wait{At: at, From: cdg.NoAct, Rule: cdg.Unexplained, Evidence: cdg.ByNothing, Bound: true})
			id = cdg.WaitID(len(d.Waits) - 1)
		case d.Pieces[len(d.Pieces)-1].Owner == cdg.NoAct:
			id = r.gap(d, d.Pieces[len(d.Pieces)-1].Start, at)
			if was := m.g.Pieces[i].Begun; was != cdg.NoWait && m.g.Waits[was].Note == cdg.Idle {
				d.Waits[id].Note = cdg.Idle
			}
		}
		d.Pieces = append(d.Pieces, cdg.Piece{Start: at, Owner: m.g.Pieces[i].Owner, Begun: id})
	}
	d.PieceFirst = append(d.PieceFirst, int32(len(d.Pieces))) // for PieceAt; the caller sets it
	for _, p := range x.inner[l] {
		r.inside(d, l, p)
	}
	d.Inside = append(d.Inside, cdg.Inside{At: d.Window.End, Lane: l, Wait: r.untraced(d, l, d.Window.End)})
	d.PieceFirst = d.PieceFirst[:len(d.PieceFirst)-1]
}

// gap is the reason of the end of time in which nothing was recorded.
func (r *Result) gap(d *cdg.Graph, from, to int64) cdg.WaitID {
	d.Waits = append(d.Waits, cdg.Wait{At: from, Lag: to - from, From: cdg.NoAct, Rule: cdg.Untraced, Evidence: cdg.ByNothing, Bound: true})
	return cdg.WaitID(len(d.Waits) - 1)
}

// kept is the reason of a border outside of the window.
func (r *Result) kept(d *cdg.Graph, i int32, at int64) cdg.WaitID {
	id := r.m.g.Pieces[i].Begun
	if id == cdg.NoWait {
		return id
	}
	w := r.m.g.Waits[id]
	if w.At+w.Lag != at { // behind the window: nobody asks why
		w.At = at - w.Lag
	}
	d.Waits = append(d.Waits, w)
	return cdg.WaitID(len(d.Waits) - 1)
}

// inside keeps the reason of a point inside a piece.
func (r *Result) inside(d *cdg.Graph, l cdg.LaneID, point int32) {
	at, recorded := r.end[point], r.m.at[point]
	if recorded <= r.m.t0 {
		at = recorded
	}
	id := cdg.NoWait
	if r.by[point] != none && recorded > r.m.t0 {
		d.Waits = append(d.Waits, r.wait(point, at))
		id = cdg.WaitID(len(d.Waits) - 1)
	} else {
		id = r.untraced(d, l, at)
	}
	d.Inside = append(d.Inside, cdg.Inside{At: at, Lane: l, Wait: id})
}

// untraced is the reason of a point in a gap that nobody is known to have ended; own time has none.
func (r *Result) untraced(d *cdg.Graph, l cdg.LaneID, at int64) cdg.WaitID {
	piece := d.PieceAt(l, at)
	if piece < 0 {
		d.Waits = append(d.Waits, cdg.Wait{At: at, From: cdg.NoAct, Rule: cdg.Unexplained, Evidence: cdg.ByNothing, Bound: true})
		return cdg.WaitID(len(d.Waits) - 1)
	}
	if d.Pieces[piece].Owner != cdg.NoAct {
		return cdg.NoWait
	}
	return r.gap(d, d.Pieces[piece].Start, at)
}
