package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

// longPiece is the length from which on a stretch of a thread is a wait for somebody, ns.
const longPiece = 1_000_000

// spans is when any slice of a list runs, disjoint and in order.
func (r *run) spans(list []cdg.ActID) (spans []cdg.Span) {
	for _, a := range list {
		spans = append(spans, cdg.Span{Start: r.g.Acts[a].Start, End: r.g.Acts[a].End})
	}
	return critpath.Joined(spans)
}

// besideCollectives is how much of the path that is, ns.
func besideCollectives(r *run) (ns int64) {
	_, beside := r.besideGloo()
	for a, x := range beside {
		ns += min(x, r.mark(a))
	}
	return ns
}

// findBesideGloo finds slices that do nothing while a collective of the CPU runs on another thread: long stretches of their own
// time of which more than half lies beside it. It gives that time, by slice.
func (r *run) findBesideGloo() (calls []cdg.ActID, beside map[cdg.ActID]int64) {
	calls = r.outermost(r.named(markKinds, func(s string) bool { backend, _, _ := vendors.BackendCall(s); return backend == vendors.HostBackend }))
	beside = map[cdg.ActID]int64{}
	if len(r.ops) > 0 || len(calls) == 0 {
		return calls, beside
	}
	joined := r.spans(calls)
	own := r.m.SetOf(calls...)
	for i := range r.g.Pieces {
		p := &r.g.Pieces[i]
		if p.Owner == cdg.NoAct || r.mark(p.Owner) == 0 || own.Has(p.Owner) {
			continue
		}
		end := r.g.Pieces[i+1].Start
		if end-p.Start < longPiece {
			continue
		}
		shared := int64(0)
		k, _ := slices.BinarySearchFunc(joined, p.Start, func(s cdg.Span, t int64) int { return int(min(max(s.End-t, -1), 1)) })
		for ; k < len(joined) && joined[k].Start < end; k++ {
			shared += max(0, min(end, joined[k].End)-max(p.Start, joined[k].Start))
		}
		if 2*shared > end-p.Start {
			beside[p.Owner] += shared
		}
	}
	return calls, beside
}

// exposedGloo is what comm-exposed finds in runs without a device.
func exposedGloo(r *run) *found {
	calls, beside := r.besideGloo()
	if len(beside) == 0 {
		return nil
	}
	var list []cdg.ActID
	waited := int64(0)
	for a, ns := range beside {
		list = append(list, a)
		waited += ns
	}
	slices.Sort(list)
	f := &found{events: events{list: calls}, change: r.scenario(), cause: "the step does nothing while it waits for a collective", do: "fewer bytes, a faster network, or gradients in buckets",
		saw:     fmt.Sprintf("%s waited beside %s", tables.Duration(waited), tables.Counted(len(calls), "collective")),
		action:  []string{"fewer bytes: a bf16 compression hook", "a faster network between the hosts", "hide collectives behind backward: DDP with bucket_cap_mb"},
		numbers: []Number{countOf("collectives", len(calls)), timeOf("waited beside them", waited)}}
	f.change.scale(list, func(a cdg.ActID, own int64) int64 { return own - beside[a] })
	return f
}
