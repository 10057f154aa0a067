package critpath

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// How a wait for an operation of the host is told: a thread is in no slice for a while, or in one that only encloses others, the operation runs for most of
// that, and the thread goes on as soon as it ends: on a busy machine, when it gets a core. Times are in ns.
const (
	shortestWait = 100_000
	wakesWithin  = 100_000
	wakesLate    = 8 // or within this part of the wait
)

// HostOps is what is known of communication operations that run on threads. Backends without a device have no streams: they work
// on threads of their own, and nothing is recorded of who waits for them.
type HostOps struct {
	Calls []cdg.ActID     // by operation: the operator that asked for it, NoAct when there is none, as for operations of streams
	Waits map[int32]int32 // by piece of a thread that waits: the operation that ends the wait

	lane map[cdg.ActID]int32 // the operations on threads
}

// FindHostOps looks at those of some operations that run on threads. It returns nil when there are none. The operations are in order
// of their starts: what is asked for first starts first.
func FindHostOps(g *graph.Graph, ops []cdg.ActID) *HostOps {
	h := &HostOps{Calls: slices.Repeat([]cdg.ActID{cdg.NoAct}, len(ops)), Waits: map[int32]int32{}, lane: map[cdg.ActID]int32{}}
	for i, a := range ops {
		if !g.Lanes[g.Acts[a].Lane].Stream {
			h.lane[a] = int32(i)
		}
	}
	if len(h.lane) == 0 {
		return nil
	}
	h.findCalls(g, ops)
	for i, a := range ops {
		if _, ok := h.lane[a]; ok {
			h.findWaits(g, ops, int32(i), a)
		}
	}
	return h
}

// findCalls gives each operation the first operator of its collective that no earlier one has taken.
func (h *HostOps) findCalls(g *graph.Graph, ops []cdg.ActID) {
	word := func(s string) string { return strings.ReplaceAll(strings.Trim(strings.ToLower(s), "_"), "_", "") }
	calls := map[string][]cdg.ActID{}
	for a := range g.Acts {
		act := &g.Acts[a]
		if g.Lanes[act.Lane].Stream || g.Trace.Events[act.Event].Kind != trace.CPUOp {
			continue
		}
		if name, ok := strings.CutPrefix(g.Trace.Name(act.Event), vendors.CollectiveOps); ok {
			calls[word(name)] = append(calls[word(name)], cdg.ActID(a))
		}
	}
	for _, list := range calls {
		slices.SortStableFunc(list, func(a, b cdg.ActID) int { return int(min(max(g.Acts[a].Start-g.Acts[b].Start, -1), 1)) })
	}
	for i, a := range ops {
		if _, ok := h.lane[a]; !ok {
			continue
		}
		_, name, _ := vendors.BackendCall(g.Trace.Name(g.Acts[a].Event))
		name, _, _ = strings.Cut(name, " ") // send 0->1
		if list := calls[word(name)]; len(list) > 0 && g.Acts[list[0]].Start <= g.Acts[a].Start {
			h.Calls[i] = list[0]
			calls[word(name)] = list[1:]
		}
	}
}

// findWaits finds the threads that waited for an operation. Of two operations that end in one wait the later holds.
func (h *HostOps) findWaits(g *graph.Graph, ops []cdg.ActID, i int32, a cdg.ActID) {
	op := &g.Acts[a]
	for l := range g.Lanes {
		if g.Lanes[l].Stream || cdg.LaneID(l) == op.Lane {
			continue
		}
		p := g.PieceAt(cdg.LaneID(l), op.End)
		if p < 0 || p+1 >= int(g.PieceFirst[l+1]) {
			continue
		}
		if owner := g.Pieces[p].Owner; owner != cdg.NoAct {
			if _, also := h.lane[owner]; also || !g.Marker(owner) { // operators compute
				continue
			}
		}
		start, end := g.Pieces[p].Start, g.Pieces[p+1].Start
		if end-start < shortestWait || end-op.End > max(wakesWithin, (end-start)/wakesLate) || 2*(op.End-max(start, op.Start)) < end-start {
			continue
		}
		if k, ok := h.Waits[int32(p)]; !ok || g.Acts[ops[k]].End < op.End {
			h.Waits[int32(p)] = i
		}
	}
}

// met reports whether the walk, on a thread, comes to an operation: it is on its thread, or on one that waited for it. What the thread
// did after the wait is emitted.
func (h *HostOps) met(w *walker, ops []cdg.ActID) (int32, bool) {
	if h == nil {
		return 0, false
	}
	if w.piece < 0 {
		w.piece = w.g.PieceAt(w.lane, w.t)
	}
	if w.piece < 0 {
		return 0, false
	}
	owner := w.g.Pieces[w.piece].Owner
	if i, ok := h.lane[owner]; ok && owner != cdg.NoAct {
		return i, w.g.Acts[owner].Start < w.t
	}
	i, ok := h.Waits[int32(w.piece)]
	if !ok {
		return 0, false
	}
	end := w.g.Acts[ops[i]].End
	if w.t < end || end <= w.t0 {
		return 0, false
	}
	if w.t > end {
		event, kind, by := trace.NoEvent, Untraced, cdg.ByNothing
		if owner != cdg.NoAct {
			event = w.g.Acts[owner].Event
			kind, by = w.host.own(owner)
		}
		w.emit(end, event, kind, by)
	}
	return i, true
}

// begin goes from the start of an operation on a thread to what let it begin: the end of the one before it on its thread, or the
// operator that asked for it, whatever came later.
func (h *HostOps) begin(w *walker, i int, ops []cdg.ActID) {
	lane := w.g.Acts[ops[i]].Lane
	from, to := w.t, lane
	if c := h.Calls[i]; c != cdg.NoAct {
		from, to = min(w.g.Acts[c].Start, w.t), w.g.Acts[c].Lane
	}
	for k := i - 1; k >= 0; k-- {
		if before := &w.g.Acts[ops[k]]; before.Lane == lane {
			if end := before.End; end <= w.t && (to == lane || end > from) {
				from, to = end, lane
			}
			break
		}
	}
	w.emit(from, trace.NoEvent, LaunchDelay, cdg.ByAlignment)
	w.goTo(to, cdg.NoAct)
}
