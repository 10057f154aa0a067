package cdg

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// How a wait for a collective of the host is told: a thread is in no slice for a while, or in one that only encloses others, the collective runs for most of
// that, and the thread goes on as soon as it ends: the one that asked for it, on a busy machine, when it gets a core.
const (
	shortestHostWait = 100 * us
	wakesWithin      = 100 * us
	wakesLate        = 8 // or within this part of the wait
)

// HostCollective is a collective that a thread does. Gloo has threads of its own, and PyTorch annotates what they do and not who waits for it (torch/csrc/distributed/c10d,
// ProcessGroupGloo): an operator of c10d puts the work into a queue, and who needs the result waits on a condition. With tensors of a device the thread first waits
// until they are copied to the host, and afterwards it queues the way back: the other ranks are met in between.
type HostCollective struct {
	Act  ActID
	Call ActID // the operator that asked for it, NoAct when there is none
	Span       // the longest stretch in which its thread is in no call inside of it: there it meets the other ranks
}

var hostCollectivesRule = rule{name: "collectives of threads", find: func(b *builder) { b.findHostCollectives() }}

// findHostCollectives finds the collectives that threads do, and who asked for each.
func (b *builder) findHostCollectives() {
	d := b.d
	isOp := matchSyms(b.tr, func(s string) bool {
		backend, _, ok := vendors.BackendCall(s)
		return ok && backend == vendors.HostBackend
	})
	if !slices.Contains(isOp, true) {
		return
	}
	b.hostLane = make([]bool, len(d.Lanes))
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		for a := lane.First; a < lane.Limit && !lane.Stream; a++ {
			if isOp[b.event(a).Name] {
				b.hostLane[l] = true
				d.HostCollectives = append(d.HostCollectives, HostCollective{Act: a, Call: NoAct, Span: b.ownStretch(a)})
			}
		}
	}
	slices.SortFunc(d.HostCollectives, func(x, y HostCollective) int {
		return cmp.Or(cmp.Compare(d.Acts[x.Act].Start, d.Acts[y.Act].Start), cmp.Compare(x.Act, y.Act))
	})
	b.findHostCalls()
}

// bindHostCollectives finds who waits for the end of each collective, and when it was asked for.
func (b *builder) bindHostCollectives() {
	d := b.d
	if b.pool.askedBy == nil { // the rule of pools was left out
		b.pool.askedBy, b.pool.answers = map[ActID]threadPiece{}, map[int]ActID{}
	}
	for i := range d.HostCollectives {
		x := &d.HostCollectives[i]
		if x.Call != NoAct {
			call := &d.Acts[x.Call]
			b.pool.askedBy[x.Act] = threadPiece{call.Lane, 0, Span{min(call.End, d.Acts[x.Act].Start), d.Acts[x.Act].End}}
		}
		b.findHostWaits(x)
	}
}

// doesCollectives reports whether a thread does collectives: who waits for it waits for one of them.
func (b *builder) doesCollectives(l LaneID) bool { return b.hostLane != nil && b.hostLane[l] }

// ownStretch is the longest piece of a slice.
func (b *builder) ownStretch(a ActID) (best Span) {
	d, act := b.d, &b.d.Acts[a]
	best = Span{act.Start, act.End}
	longest := int64(-1)
	for i := max(d.PieceAt(act.Lane, act.Start+1), 0); i+1 < int(d.PieceFirst[act.Lane+1]) && d.Pieces[i].Start < act.End; i++ {
		if n := d.Pieces[i+1].Start - d.Pieces[i].Start; d.Pieces[i].Owner == a && n > longest {
			best, longest = Span{d.Pieces[i].Start, d.Pieces[i+1].Start}, n
		}
	}
	return best
}

// findHostCalls gives each collective the first operator of its kind that no earlier one has taken: what is asked for first starts first.
func (b *builder) findHostCalls() {
	d := b.d
	word := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	calls := map[string][]ActID{}
	for a := range b.firstOp {
		if b.event(a).Kind != trace.CPUOp {
			continue
		}
		if name, ok := strings.CutPrefix(b.tr.Name(d.Acts[a].Event), vendors.CollectiveOps); ok {
			calls[word(name)] = append(calls[word(name)], a)
		}
	}
	for _, list := range calls {
		slices.SortStableFunc(list, func(x, y ActID) int { return cmp.Compare(d.Acts[x].Start, d.Acts[y].Start) })
	}
	for i := range d.HostCollectives {
		x := &d.HostCollectives[i]
		_, name, _ := vendors.BackendCall(b.tr.Name(d.Acts[x.Act].Event))
		name, _, _ = strings.Cut(name, " ") // send 0->1
		if list := calls[word(name)]; len(list) > 0 && d.Acts[list[0]].Start <= d.Acts[x.Act].Start {
			x.Call = list[0]
			calls[word(name)] = list[1:]
		}
	}
}

// findHostWaits finds the threads that waited for a collective. Of two that end in one wait the later holds.
func (b *builder) findHostWaits(x *HostCollective) {
	d, act := b.d, &b.d.Acts[x.Act]
	for l := range d.Lanes {
		if d.Lanes[l].Stream || d.Lanes[l].Proc != d.Lanes[act.Lane].Proc || b.hostLane[l] {
			continue
		}
		p := d.PieceAt(LaneID(l), act.End)
		if p < 0 || p+1 >= int(d.PieceFirst[l+1]) {
			continue
		}
		if owner := d.Pieces[p].Owner; owner != NoAct && !d.Marker(owner) { // operators compute
			continue
		}
		start, end := d.Pieces[p].Start, d.Pieces[p+1].Start
		wakes := int64(wakesWithin)
		if x.Call != NoAct && d.Acts[x.Call].Lane == LaneID(l) {
			wakes = max(wakes, (end-start)/wakesLate)
		}
		if end-start < shortestHostWait || end-act.End > wakes || 2*(act.End-max(start, act.Start)) < end-start {
			continue
		}
		if last, ok := b.pool.answers[p]; !ok || d.Acts[last].End < act.End {
			b.pool.answers[p] = x.Act
		}
	}
}
