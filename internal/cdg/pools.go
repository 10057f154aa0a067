package cdg

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const (
	poolThreads = 3        // threads of a process that do the same from the top make a pool
	longRound   = 100 * us // an annotation or a call that lasts longer, and that is no launch or wait, may be a round of work

	askedTimes = 3    // rounds of a name at least that other threads ask for
	askedShare = 0.75 // of the rounds of the name
	askedSlack = 0.1  // of a round by which the wait of who asked for it is longer
	fewWaits   = 64   // waits that began just before a round are looked at
)

var poolsRule = rule{name: "pools of threads", find: func(b *builder) { *b.pool = b.findPools() }}

// threadPiece is a piece of a thread.
type threadPiece struct {
	lane  LaneID
	piece int
	Span
}

// findPools finds what several threads of a process begin with after a gap, again and again, and which rounds of work other threads
// ask for and wait for: a thread waits from just before the round to just after it, and so do others at most rounds of the name.
func (b *builder) findPools() (p pool) {
	d := b.d
	p.rounds, p.askedBy, p.answers = map[roundKey]bool{}, map[ActID]threadPiece{}, map[int]ActID{}
	threads := map[roundKey]int{}
	waits, rounds := map[trace.ProcID][]threadPiece{}, map[roundKey][]ActID{}
	var names []roundKey
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		if lane.Stream {
			continue
		}
		times := map[trace.Sym]int{}
		for i := int(d.PieceFirst[l]); i < int(d.PieceFirst[l+1]); i++ {
			a := d.Pieces[i].Owner
			if a == NoAct {
				continue
			}
			e := b.event(a)
			if !d.Marker(a) && (!e.Kind.Call() || b.calls[e.Name] != plainCall) {
				continue
			}
			if i+1 < int(d.PieceFirst[l+1]) && d.Pieces[i+1].Start-d.Pieces[i].Start >= longRound {
				waits[lane.Proc] = append(waits[lane.Proc], threadPiece{LaneID(l), i, Span{d.Pieces[i].Start, d.Pieces[i+1].Start}})
			}
			if d.Parent[a] != NoAct || d.Acts[a].Start != d.Pieces[i].Start || i > int(d.PieceFirst[l]) && d.Pieces[i-1].Owner != NoAct {
				continue
			}
			key, long := roundKey{lane.Proc, e.Name}, b.tr.Dur(e) >= longRound
			if i > int(d.PieceFirst[l]) && (e.Kind == trace.Annotation || e.Kind.Call() && long) {
				times[e.Name]++
			}
			if end := d.Acts[a].End; long && e.Kind != trace.Python && d.Pieces[d.PieceAt(LaneID(l), end)+1].Start == end { // nothing outlasts it
				if rounds[key] == nil {
					names = append(names, key)
				}
				rounds[key] = append(rounds[key], a)
			}
		}
		for name, n := range times {
			if n > 1 {
				threads[roundKey{lane.Proc, name}]++
			}
		}
	}
	for k, n := range threads {
		if n >= poolThreads {
			p.rounds[k] = true
		}
	}
	for _, w := range waits {
		slices.SortFunc(w, func(x, y threadPiece) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.lane, y.lane)) })
	}
	for _, key := range names {
		if _, _, collective := vendors.BackendCall(b.tr.Str(key.name)); !collective { // these are waited for as collectives
			b.findAsking(&p, rounds[key], waits[key.proc])
		}
	}
	return p
}

// findAsking finds who asked for rounds of one name.
func (b *builder) findAsking(p *pool, rounds []ActID, waits []threadPiece) {
	by := make([]threadPiece, 0, len(rounds))
	asked := 0
	for _, a := range rounds {
		w, ok := b.asking(&b.d.Acts[a], waits)
		if by = append(by, w); ok {
			asked++
		}
	}
	if asked < askedTimes || float64(asked) < askedShare*float64(len(rounds)) {
		return
	}
	for i, a := range rounds {
		if w := by[i]; w.lane != NoLane {
			p.askedBy[a] = w
			if last, ok := p.answers[w.piece]; !ok || b.d.Acts[a].End > b.d.Acts[last].End {
				p.answers[w.piece] = a
			}
		}
	}
}

// asking finds the shortest wait of another thread in which a round lies and which is hardly longer.
func (b *builder) asking(round *Act, waits []threadPiece) (best threadPiece, ok bool) {
	best.lane = NoLane
	slack := int64(askedSlack * float64(round.End-round.Start))
	n := sort.Search(len(waits), func(i int) bool { return waits[i].Start > round.Start })
	for i := n - 1; i >= max(0, n-fewWaits) && round.Start-waits[i].Start <= slack; i-- {
		w := &waits[i]
		if more := w.End - w.Start - (round.End - round.Start); w.lane != round.Lane && w.End >= round.End && more <= slack {
			if best, ok = *w, true; more == 0 {
				break
			}
			slack = more - 1
		}
	}
	return best, ok
}

// asked finds the thread that asked for the round which another one begins at t, with the piece next, after a gap since from.
func (b *threadBinder) asked(w *Wait, from int64, next int, t int64) bool {
	if b.turns == nil || b.o.without(Handoff) || len(b.pool.askedBy) == 0 || next >= len(b.d.Pieces) || b.d.Pieces[next].Start != t {
		return false
	}
	by, ok := b.pool.askedBy[b.d.Pieces[next].Owner]
	if !ok || by.Start <= from {
		return false // that thread asked before this one was done with its last round
	}
	*w = Wait{At: by.Start, From: b.lastAct(by.lane, by.Start), Rule: Handoff, Evidence: ByAlignment}
	return true
}

// answered finds the end of the round for which a thread waited in a piece until t.
func (b *threadBinder) answered(w *Wait, piece int, t int64) bool {
	if b.turns == nil || b.o.without(Handoff) {
		return false
	}
	round, ok := b.pool.answers[piece]
	if !ok || b.d.Acts[round].End > t {
		return false
	}
	lane, end := b.d.Acts[round].Lane, b.d.Acts[round].End
	*w = Wait{At: end, From: b.lastAct(lane, end), Rule: Handoff, Evidence: ByAlignment}
	return true
}

// idle reports whether a gap up to t, before a piece, is that of a thread of a pool that waits for its next round.
func (b *threadBinder) idle(lane LaneID, next int, t int64) bool {
	d := b.d
	if len(b.pool.rounds) == 0 || next >= int(d.PieceFirst[lane+1]) || d.Pieces[next].Start != t || d.Pieces[next].Owner == NoAct {
		return false
	}
	return b.pool.rounds[roundKey{d.Lanes[lane].Proc, b.event(d.Pieces[next].Owner).Name}]
}
