package cdg

import (
	"sort"

	"overlay/internal/trace"
)

const (
	polledBefore = 20 * us  // how long before the end of a spinning slice's self time the operation may end,
	polledAfter  = 100 * us // and how long after
)

var polledRule = rule{name: "polled memory", find: (*builder).polledWaits}

// polledWaits finds annotations and frames that spin on memory which a kernel writes (DeepEP, NVSHMEM): long unbroken
// self time right after a launch of their own (of a kernel: for copies the host asks events), ended when an operation of that launch ends. Never ops: they compute; nor slices of a data loader: they wait for data.
func (b *builder) polledWaits() {
	d := b.d
	for l := range d.Lanes {
		launches := b.threads[l].launches
		pieces := d.Pieces[d.PieceFirst[l]:d.PieceFirst[l+1]]
		for i := 0; i+1 < len(pieces); i++ {
			from, t, c := pieces[i].Start, pieces[i+1].Start, pieces[i].Owner
			if t-from < 500*us || c == NoAct || !d.Marker(c) || d.WaitsForLoader(c) {
				continue
			}
			call := NoAct // the thread's last launch before, if it lies inside the slice
			n := sort.Search(len(launches), func(j int) bool { return d.Acts[launches[j]].Start >= from })
			if n > 0 && d.Acts[launches[n-1]].Start >= d.Acts[c].Start {
				call = launches[n-1]
			}
			lo, hi := b.endsIn(t-polledBefore-1, t+polledAfter)
			for j := hi - 1; j >= lo; j-- {
				g := b.byEnd[j]
				// Without a recorded launch, an operation that ran for most of the time will do.
				if b.event(g).Kind != trace.Kernel || b.launch[g] != call || d.Acts[g].Start >= t || d.Acts[g].End <= from || !b.sameProcess(d.Acts[g].Lane, LaneID(l)) ||
					call == NoAct && (d.Acts[g].Start < d.Acts[c].Start || 2*(t-d.Acts[g].Start) < t-from) {
					continue
				}
				b.add(c, g, PolledWait, ByAlignment)
				break
			}
		}
	}
}
