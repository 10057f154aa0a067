package whatif

import (
	"slices"
	"sort"

	"overlay/internal/cdg"
)

const (
	heldBacklog = 4     // operations that a stream has to hold before a launch is believed to wait for room
	heldLeast   = 10000 // ns: shorter launch calls are not looked at
	heldReturn  = 4000  // ns: how long after an operation ended such a call returns, besides twice the usual launch
	heldProofs  = 3     // calls of a stream that have to look so
)

// findHeld finds launch calls that waited for room in the queue of their stream although no limit of the queue is known:
// far longer than usual, with operations queued, and over when an operation of the stream ended. Their time is no work of
// theirs. They are believed where most long launches of the stream look so. By the call: the operation whose end let it go on.
func (b *modelBuilder) findHeld() {
	g := b.g
	b.held = map[callEnd]cdg.ActID{}
	usual := b.m.typical[callTime]
	for l := range g.Lanes {
		if !g.Lanes[l].Stream {
			continue
		}
		isLong := func(c cdg.ActID) bool { return g.Acts[c].End-g.Acts[c].Start > max(5*usual, heldLeast) }
		var calls []cdg.ActID // of single operations, in order of launch
		var ends []int64
		long := 0
		for k := g.Lanes[l].First; k < g.Lanes[l].Limit; k++ {
			if c := b.launchOf(k); c != cdg.NoAct && b.ops[c] == 1 {
				calls, ends = append(calls, c), append(ends, g.Acts[k].End)
				if isLong(c) {
					long++
				}
			}
		}
		if long < heldProofs {
			continue
		}
		slices.SortFunc(calls, func(x, y cdg.ActID) int { return int(min(max(g.Acts[x].Start-g.Acts[y].Start, -1), 1)) })
		byEnd := b.byEnd(cdg.LaneID(l))
		slices.Sort(ends)
		long = 0 // with operations queued
		found := map[callEnd]cdg.ActID{}
		for i, c := range calls {
			call := &g.Acts[c]
			if !isLong(c) {
				continue
			}
			if done := sort.Search(len(ends), func(k int) bool { return ends[k] > call.Start }); i-done < heldBacklog {
				continue
			}
			long++
			n := sort.Search(len(byEnd), func(k int) bool { return g.Acts[byEnd[k]].End > call.End }) - 1
			if n >= 0 && g.Acts[byEnd[n]].End > call.Start && call.End-g.Acts[byEnd[n]].End < 2*usual+heldReturn {
				found[callEnd{call.Lane, call.End}] = byEnd[n]
			}
		}
		if len(found) < heldProofs || 5*len(found) < 3*long {
			continue
		}
		for end, op := range found {
			b.held[end] = op
			b.mark(end.lane, end.at)
		}
	}
}

// byEnd is the operations of a stream that take time, by their end.
func (b *modelBuilder) byEnd(l cdg.LaneID) []cdg.ActID {
	g := b.g
	var ops []cdg.ActID
	for k := g.Lanes[l].First; k < g.Lanes[l].Limit; k++ {
		if g.Acts[k].End > g.Acts[k].Start {
			ops = append(ops, k)
		}
	}
	slices.SortStableFunc(ops, func(x, y cdg.ActID) int { return int(min(max(g.Acts[x].End-g.Acts[y].End, -1), 1)) })
	return ops
}

// isHeld reports whether a launch call that waited for room returns at t, if it is not known to have waited.
func (b *modelBuilder) isHeld(l cdg.LaneID, t int64) bool {
	op, ok := b.held[callEnd{l, t}]
	return ok && b.m.pointOf(op) != none && b.g.Acts[op].Start < t
}

// heldUntil is the source of the return of a launch call that waited for room, if it is one and is not known to have waited.
func (b *modelBuilder) heldUntil(l cdg.LaneID, t int64) (dep, bool) {
	if !b.isHeld(l, t) {
		return dep{}, false
	}
	op := b.held[callEnd{l, t}]
	return b.after(t-b.g.Acts[op].End, dep{src: b.m.pointOf(op), wait: none, rule: cdg.QueueFull, kind: syncDelay, flag: bound | silent}), true
}
