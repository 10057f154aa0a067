package kineto

import (
	"cmp"
	"slices"
)

// Links are relations between events that only some analyses want. Each slice has an entry an event, NoEvent where
// there is nothing.
type Links struct {
	// Op is, for a call or an operation, the operator that it belongs to by External id (the innermost one that was open
	// at the call). Before October 2024 an unlinked event printed its correlation there (libkineto ba4caf65): such a match
	// counts only when the operator encloses the call on its thread.
	Op []EventID
	// Forward is, for a backward operator, the forward operator with its sequence number on the thread that Fwd thread id
	// means: of several that share the number the one that starts last (collection.cpp, generateForwardBackwardLink).
	Forward []EventID
	// Thread is, for a call whose operator encloses it in time on another thread, that thread's track: the call's own
	// tid comes from a table that may name a dead thread; else NoTrack.
	Thread []TrackID
}

// Link finds the relations.
func Link(t *Trace) *Links {
	l := &Links{Op: make([]EventID, len(t.Events)), Forward: make([]EventID, len(t.Events)), Thread: make([]TrackID, len(t.Events))}
	for i := range t.Events {
		l.Op[i], l.Forward[i], l.Thread[i] = NoEvent, NoEvent, NoTrack
	}
	l.operators(t)
	l.forward(t)
	return l
}

type keyed struct {
	key int64
	id  EventID
}

// find returns the entries with a key.
func find(list []keyed, key int64) []keyed {
	lo, _ := slices.BinarySearchFunc(list, key, func(k keyed, v int64) int { return cmp.Compare(k.key, v) })
	hi := lo
	for hi < len(list) && list[hi].key == key {
		hi++
	}
	return list[lo:hi]
}

func byKey(t *Trace, want func(*Event) (int64, bool)) []keyed {
	var list []keyed
	for i := range t.Events {
		if k, ok := want(&t.Events[i]); ok {
			list = append(list, keyed{k, EventID(i)})
		}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return cmp.Compare(a.key, b.key) })
	return list
}

func (l *Links) operators(t *Trace) {
	ops := byKey(t, func(e *Event) (int64, bool) { return e.Ext, e.Kind == CPUOp && e.Flags&HasExt != 0 })
	for i := range t.Events {
		e := &t.Events[i]
		if !e.Kind.Call() && !e.Kind.Device() || e.Flags&HasExt == 0 {
			continue
		}
		at := e
		if e.Kind.Device() {
			if t.Launch[i] == NoEvent {
				continue
			}
			at = &t.Events[t.Launch[i]]
		}
		doubtful := e.Flags&HasCorr != 0 && e.Ext == e.Corr
		for _, k := range find(ops, e.Ext) {
			op := &t.Events[k.id]
			encloses := op.Start <= at.Start && op.End() >= at.End()
			if encloses && op.Track == at.Track {
				l.Op[i] = k.id
				break
			}
			if doubtful {
				continue
			}
			if l.Op[i] == NoEvent {
				l.Op[i] = k.id
				if encloses && e.Kind.Call() {
					l.Thread[i] = op.Track
				}
			}
		}
		if l.Op[i] != NoEvent && t.Events[l.Op[i]].Track == e.Track {
			l.Thread[i] = NoTrack
		}
	}
}

func (l *Links) forward(t *Trace) {
	fwd := byKey(t, func(e *Event) (int64, bool) {
		return int64(e.Seq), e.Kind == CPUOp && e.Flags&HasSeq != 0 && e.Fwd == 0
	})
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != CPUOp || e.Flags&HasSeq == 0 || e.Fwd == 0 {
			continue
		}
		best := NoEvent
		for _, k := range find(fwd, int64(e.Seq)) {
			if f := &t.Events[k.id]; f.Start <= e.Start && (best == NoEvent || f.Start > t.Events[best].Start) {
				best = k.id
			}
		}
		l.Forward[i] = best
	}
}
