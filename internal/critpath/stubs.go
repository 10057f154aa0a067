package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/graph"
)

// StubEnd says what a walk back met.
type StubEnd uint8

// The ends of a stub.
const (
	AtStart     StubEnd = iota // the start of the window
	AtOperation                // one of the operations, Stub.Ref by its place in the list
	AtStub                     // a stub made before it: from there on both are the same walk
)

// Stub is where a walk back inside of one trace ended.
type Stub struct {
	At  int64 // ns on the trace's clock
	Ref int32 // operation or stub
	End StubEnd
}

// Stubs walks back by the exact method from the start of each of some operations of streams or threads, and at last from the end of
// the window, until it meets one of those operations, the walk of an earlier stub, or the start of the window. So a path
// that comes to one of the operations from elsewhere, as one that goes over several ranks does, can go on there.
//
// Stub i belongs to ops[i], the one after all of them to the end of the window. emit gets the segments of stub i, the
// latest first; they tile from the start of the walk down to Stub.At. A stub may lead to an earlier one only, so all
// stubs together hold each piece of the walks once.
func Stubs(g *graph.Graph, ops []cdg.ActID, emit func(stub int, s *Segment)) []Stub {
	at := make(map[cdg.ActID]int32, len(ops))
	for i, a := range ops {
		at[a] = int32(i)
	}
	host := hostSpans(g.Graph)
	w := newWalker(g, g.Window.End)
	seen := newSeen(g.Graph)
	stubs := make([]Stub, len(ops)+1)
	w.sink = func(s *Segment) { emit(int(seen.stub), s) }
	for i := range stubs {
		seen.stub = int32(i)
		if w.place = placeAt(g.Window.End); i == len(ops) {
			w.start()
		} else if w.t = host.start(g.Graph, ops[i]); w.t > w.t0 {
			w.leave(ops[i])
		}
		stubs[i] = w.stub(ops, at, seen, host)
		w.close()
	}
	return stubs
}

// Back is the walk that the stub of operation op leads to, through further operations, down to from: its segments, the first of
// them first, and the edges between them. op is len(ops) for the end of the window.
func Back(g *graph.Graph, ops []cdg.ActID, op int, from int64) ([]Segment, []Edge) {
	at := make(map[cdg.ActID]int32, len(ops))
	for i, a := range ops {
		at[a] = int32(i)
	}
	host := hostSpans(g.Graph)
	w := newWalker(g, g.Window.End)
	w.t0 = max(from, w.t0)
	if op < len(ops) {
		w.t = host.start(g.Graph, ops[op])
	}
	end := w.t
	if end <= w.t0 {
		return nil, nil
	}
	if op == len(ops) {
		w.start()
	} else {
		w.leave(ops[op])
	}
	for still := 0; w.t > w.t0; {
		before := w.t
		b := w.stub(ops, at, nil, host)
		if b.End != AtOperation {
			break
		}
		k := ops[b.Ref]
		if w.g.Lanes[w.g.Acts[k].Lane].Stream {
			w.emit(w.g.Acts[k].Start, w.g.Acts[k].Event, w.opKind(w.g.Acts[k].Event), w.g.Release(k).Evidence)
		} else {
			w.emit(host.start(w.g, k), w.g.Acts[k].Event, Comm, cdg.ByAlignment)
		}
		if still++; w.t < before {
			still = 0
		} else if still > 4*len(w.g.Lanes)+8 {
			w.giveUp()
		}
		if w.t > w.t0 {
			w.waiting, w.still = waitingSlice{}, 0 // as at the start of a stub
			w.leave(k)
		}
	}
	w.close()
	return w.segs.List(), w.eds.List()
}

// spans are where collectives of threads meet the other ranks, by activity.
type spans map[cdg.ActID]cdg.Span

func hostSpans(g *cdg.Graph) spans {
	s := spans{}
	for i := range g.HostCollectives {
		s[g.HostCollectives[i].Act] = g.HostCollectives[i].Span
	}
	return s
}

// start is when an operation begins to meet the other ranks.
func (s spans) start(g *cdg.Graph, a cdg.ActID) int64 {
	if x, ok := s[a]; ok {
		return x.Start
	}
	return g.Acts[a].Start
}

// met is the collective of a thread to which the walk comes there, NoAct for none.
func (s spans) met(w *walker) cdg.ActID {
	if len(s) == 0 {
		return cdg.NoAct
	}
	if w.piece < 0 {
		w.piece = w.g.PieceAt(w.lane, w.t)
	}
	if w.piece < 0 {
		return cdg.NoAct
	}
	owner := w.g.Pieces[w.piece].Owner
	if x, ok := s[owner]; ok && x.Start < w.t && w.t <= x.End {
		return owner
	}
	return cdg.NoAct
}

// leave goes from the start of an operation to what let it begin.
func (w *walker) leave(a cdg.ActID) {
	if w.lane = w.g.Acts[a].Lane; w.g.Lanes[w.lane].Stream {
		w.released(a)
	} else {
		w.goTo(w.lane, cdg.NoAct)
	}
}

// stub walks on from where the walker is. Without seen it joins no other walk.
func (w *walker) stub(ops []cdg.ActID, at map[cdg.ActID]int32, seen *seen, host spans) Stub {
	for w.t > w.t0 {
		if !w.g.Lanes[w.lane].Stream {
			if i, ok := at[host.met(w)]; ok {
				return Stub{w.t, i, AtOperation}
			}
			if s := seen.thread(w); s >= 0 {
				return Stub{w.t, s, AtStub}
			}
			w.advance()
			continue
		}
		k := w.operation()
		if i, ok := at[k]; ok && k != cdg.NoAct {
			return Stub{w.t, i, AtOperation}
		}
		if k == cdg.NoAct {
			w.advance()
			continue
		}
		act := &w.g.Acts[k]
		w.emit(act.Start, act.Event, w.opKind(act.Event), w.g.Release(k).Evidence)
		if w.t <= w.t0 {
			break
		}
		if s := seen.operation(w, k); s >= 0 {
			return Stub{w.t, s, AtStub}
		}
		w.released(k)
	}
	return Stub{w.t, -1, AtStart}
}

// seen remembers in which states the walks were: at an operation whose release is asked next, or on a thread at a time,
// with the slice that a hand-off left behind. It keeps one state for each operation and each piece of a thread, the
// last: a state that is forgotten costs a longer walk and nothing else.
type seen struct {
	stub   int32
	acts   []state // per activity
	pieces []state // per piece, by the piece that ends at the time or holds it
}

type state struct {
	t    int64
	left int32 // what a hand-off left behind: 1 + the slice, or -1 - the thread when it was in no slice; 0 for nothing
	stub int32 // 1 + the stub; 0 for none
}

func newSeen(g *cdg.Graph) *seen {
	return &seen{acts: make([]state, len(g.Acts)), pieces: make([]state, len(g.Pieces))}
}

// operation returns the stub that was at the operation in the same state, or -1; then it notes the walk's own.
func (s *seen) operation(w *walker, k cdg.ActID) int32 {
	if s == nil {
		return -1
	}
	return s.look(&s.acts[k], w)
}

// thread does so for a thread.
func (s *seen) thread(w *walker) int32 {
	if s == nil {
		return -1
	}
	if w.piece < 0 {
		w.piece = w.g.PieceAt(w.lane, w.t)
	}
	if w.piece < 0 {
		return -1
	}
	return s.look(&s.pieces[w.piece], w)
}

func (s *seen) look(at *state, w *walker) int32 {
	now := state{t: w.t, stub: s.stub + 1}
	switch {
	case w.waiting.ok && w.waiting.act != cdg.NoAct:
		now.left = int32(w.waiting.act) + 1
	case w.waiting.ok:
		now.left = -1 - int32(w.waiting.lane)
	}
	if at.stub != 0 && at.stub != now.stub && at.t == now.t && at.left == now.left {
		return at.stub - 1
	}
	*at = now
	return -1
}
