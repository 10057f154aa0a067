package cdg

import "fmt"

// CheckWaits verifies the invariants of the stored waits: in rows by activity, sorted, times that fit their sources, and
// satisfied; one that bound for each operation; an answer where a thread waits, and none where it computes.
func (g *Graph) CheckWaits() error {
	c := waitChecker{g, us}
	for a := range g.Acts {
		if x := &g.Acts[a]; (x.Start-g.Acts[0].Start)%us != 0 || (x.End-x.Start)%us != 0 {
			c.grain = 1
		}
	}
	return c.check()
}

// waitChecker is a graph with the time by which ends and starts that belong together may cross: 1 µs in traces of whole µs, else 1 ns.
type waitChecker struct {
	*Graph
	grain int64
}

func (g *waitChecker) check() error {
	for a := range g.Acts {
		act := &g.Acts[a]
		row, bound := g.Sources(ActID(a)), 0
		point := act.End
		stream := g.Lanes[act.Lane].Stream
		if stream {
			point = act.Start
		}
		for i := range row {
			w := &row[i]
			if i > 0 && (w.Rule < row[i-1].Rule || w.Rule == row[i-1].Rule && w.From < row[i-1].From) {
				return fmt.Errorf("event %d: waits out of order", act.Event)
			}
			if w.Bound {
				bound++
			}
			if err := g.checkWait(w, point); err != nil {
				return fmt.Errorf("event %d: %w", act.Event, err)
			}
		}
		if stream && bound != 1 || !stream && bound != 0 {
			return fmt.Errorf("event %d: %d waits bound it", act.Event, bound)
		}
	}
	for l := range g.Lanes {
		first := int(g.PieceFirst[l])
		for i := first; i < int(g.PieceFirst[l+1]); i++ {
			before := i - 1
			if i == first {
				before = -1
			}
			if err := g.checkPoint(LaneID(l), before, g.Pieces[i].Start, g.Pieces[i].Begun); err != nil {
				return err
			}
		}
	}
	for i := range g.Inside {
		x := &g.Inside[i]
		if i > 0 && g.Inside[i-1].compare(x.Lane, x.At) >= 0 {
			return fmt.Errorf("points inside pieces out of order at %d", x.At)
		}
		if err := g.checkPoint(x.Lane, g.PieceAt(x.Lane, x.At), x.At, x.Wait); err != nil {
			return err
		}
	}
	return nil
}

// checkPoint checks what a thread waited for in a piece until t.
func (g *waitChecker) checkPoint(lane LaneID, piece int, t int64, id WaitID) error {
	waits := g.waits(lane, piece)
	if id == NoWait {
		if piece < 0 || g.Pieces[piece].Owner == NoAct {
			return fmt.Errorf("lane %d at %d: no reason for time that nobody owns", lane, t)
		}
		return nil
	}
	w := &g.Waits[id]
	switch {
	case !waits || !w.Bound:
		return fmt.Errorf("lane %d at %d: %s in time of its own, or it did not bind", lane, t, w.Rule)
	case w.Rule == Handoff && (w.From == NoAct || g.Acts[w.From].Lane == lane):
		return fmt.Errorf("lane %d at %d: it handed over to itself", lane, t)
	case w.Rule == Untraced && (piece < 0 || w.At != g.Pieces[piece].Start || w.From != NoAct):
		return fmt.Errorf("lane %d at %d: %s is no gap", lane, t, w.Rule)
	}
	if err := g.checkWait(w, t); err != nil {
		return fmt.Errorf("lane %d at %d: %w", lane, t, err)
	}
	return nil
}

// checkWait checks the times of a wait for a point: by its rule the source was ready at At, up to what clocks and
// rounding may cross.
func (g *waitChecker) checkWait(w *Wait, point int64) error {
	fail := func(what string) error {
		return fmt.Errorf("%s from %d at %d + %d: %s, the point is %d", w.Rule, w.From, w.At, w.Lag, what, point)
	}
	if w.Lag < 0 || w.At+w.Lag != point {
		return fail("wrong lag")
	}
	if (w.From == NoAct) != (w.Rule == Untraced || w.Rule == Unexplained) {
		return fail("source")
	}
	if w.From == NoAct {
		return nil
	}
	from := &g.Acts[w.From]
	if g.Lanes[from.Lane].Stream == (w.Rule == Launch || w.Rule == Handoff) {
		return fail("source of the wrong kind")
	}
	slack := g.grain
	switch w.Rule {
	case Handoff:
		return nil
	case Launch:
		if w.Evidence != ByAlignment && (w.At < min(from.Start, point) || w.At > max(from.Start, from.End)) {
			return fail("time is not that of its source")
		}
		return nil // the clocks of host and device may differ
	case StreamOrder:
		if from.Start >= point {
			return fail("it started later")
		}
		slack = from.End - from.Start // operations of a stream may overlap
	case Sync, QueueFull:
		if slack = max(slack, 2*us); w.Evidence == BySyncEvent {
			slack = from.End - from.Start // the clock of the device may be late
		}
	case PolledWait:
		slack = polledAfter
	}
	if w.At != min(from.End, point) {
		return fail("time is not that of its source")
	}
	if from.End > point+slack {
		return fail("not satisfied")
	}
	return nil
}
