package whatif

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// findMeant finds what collectives wait for though it never held them up: where a call lets a stream wait just before a collective is launched, it waits for what the launching
// thread has put on its own stream until then. So does torch.distributed: the stream of a communicator waits for the current one before each operation.
func (b *modelBuilder) findMeant() {
	g := b.g
	verbs := make([]vendors.Verb, len(g.Trace.Syms))
	known, comm := make([]bool, len(verbs)), make([]bool, len(verbs))
	look := func(s trace.Sym) {
		if !known[s] {
			name := g.Trace.Str(s)
			known[s], verbs[s], comm[s] = true, vendors.VerbOf(name), vendors.IsCollective(name)
		}
	}
	waits := map[cdg.LaneID][]int64{} // of threads: when they make streams wait
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && !lane.Stream; a++ {
			if e := &g.Trace.Events[g.Acts[a].Event]; e.Kind.Call() {
				if look(e.Name); verbs[e.Name] == vendors.StreamWait {
					waits[cdg.LaneID(l)] = append(waits[cdg.LaneID(l)], g.Acts[a].Start)
				}
			}
		}
	}
	if len(waits) == 0 {
		return
	}
	type launch struct {
		call, op cdg.ActID
		comm     bool
	}
	var list []launch
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && lane.Stream; a++ {
			if c := b.launchOf(a); c != cdg.NoAct {
				e := &g.Trace.Events[g.Acts[a].Event]
				look(e.Name)
				list = append(list, launch{c, a, e.Kind.Device() && comm[e.Name]})
			}
		}
	}
	slices.SortFunc(list, func(x, y launch) int {
		return cmp.Or(cmp.Compare(g.Acts[x.call].Start, g.Acts[y.call].Start), cmp.Compare(x.op, y.op))
	})
	b.meant = map[cdg.ActID]cdg.ActID{}
	stream, before := map[cdg.LaneID]cdg.LaneID{}, map[cdg.LaneID]int64{} // per thread: that of its last operation, and when it launched
	last, any := map[cdg.LaneID]cdg.ActID{}, cdg.NoLane                   // per stream
	for _, x := range list {
		call := &g.Acts[x.call]
		if own, ok := stream[call.Lane]; x.comm {
			times := waits[call.Lane]
			i := sort.Search(len(times), func(i int) bool { return times[i] > before[call.Lane] })
			if !ok {
				own = any
			}
			if i < len(times) && times[i] < call.Start && own != cdg.NoLane && g.Acts[last[own]].End <= g.Acts[x.op].Start {
				b.meant[x.op] = last[own]
			}
		} else {
			l := g.Acts[x.op].Lane
			stream[call.Lane], last[l], any = l, x.op, l
		}
		before[call.Lane] = call.Start
	}
}

// meantDep is what a collective waits for, if no record says that it did.
func (b *depLayer) meantDep(k cdg.ActID, row []cdg.Wait) {
	x, ok := b.meant[k]
	if !ok || slices.ContainsFunc(row, func(w cdg.Wait) bool { return w.Rule == cdg.EventWait }) || b.m.pointOf(x) == none {
		return
	}
	lag := b.g.Acts[k].Start - b.g.Acts[x].End
	b.deps = append(b.deps, b.after(min(b.m.typical[eventLag], lag), dep{src: b.m.pointOf(x), wait: none, rule: cdg.EventWait, kind: kindOf(cdg.EventWait), typical: eventLag, flag: held}))
}
