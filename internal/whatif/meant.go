package whatif

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// calling is a thread that launches, as far as it has been followed.
type calling struct {
	waits   []int64     // when it makes streams wait, from its last launch on
	stream  cdg.LaneID  // of its last operation that does not communicate; NoLane before it
	last    cdg.ActID   // its last operation, if that is a collective
	gathers []cdg.ActID // those that it launched and has not waited for yet
	awaited []cdg.ActID // what its next operation waits for
}

// awaits is the collective for which a thread lets its own stream wait: the one that it has just launched, else the oldest gather that it has not waited for.
func (c *calling) awaits() {
	x := c.last
	if x == cdg.NoAct && len(c.gathers) > 0 {
		x = c.gathers[0]
	}
	if x != cdg.NoAct {
		c.awaited = append(c.awaited, x)
		c.gathers = slices.DeleteFunc(c.gathers, func(g cdg.ActID) bool { return g == x })
	}
}

// findMeant finds what operations wait for though it never held them up, where calls let streams wait just before they are launched, by what torch.distributed does: a
// collective waits for what the launching thread has put on its own stream until then; of what follows on that stream, the next operation waits for the collective that was
// just launched, or for parameters that were gathered ahead, first come first served.
func (b *modelBuilder) findMeant() {
	g := b.g
	if slices.ContainsFunc(g.Waits, func(w cdg.Wait) bool { return w.Rule == cdg.EventWait && w.Evidence == cdg.BySyncEvent }) {
		return // the profiler recorded what streams wait for
	}
	verbs := make([]vendors.Verb, len(g.Trace.Syms))
	known, comm, gather := make([]bool, len(verbs)), make([]bool, len(verbs)), make([]bool, len(verbs))
	look := func(s trace.Sym) {
		if !known[s] {
			name := g.Trace.Str(s)
			known[s], verbs[s], comm[s] = true, vendors.VerbOf(name), vendors.IsCollective(name)
			gather[s] = comm[s] && vendors.OperationIn(name) == "allgather"
		}
	}
	threads := map[cdg.LaneID]*calling{}
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && !lane.Stream; a++ {
			if e := &g.Trace.Events[g.Acts[a].Event]; e.Kind.Call() {
				if look(e.Name); verbs[e.Name] == vendors.StreamWait {
					if threads[cdg.LaneID(l)] == nil {
						threads[cdg.LaneID(l)] = &calling{stream: cdg.NoLane, last: cdg.NoAct}
					}
					threads[cdg.LaneID(l)].waits = append(threads[cdg.LaneID(l)].waits, g.Acts[a].Start)
				}
			}
		}
	}
	if len(threads) == 0 {
		return
	}
	type launch struct{ call, op cdg.ActID }
	var list []launch
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		for a := lane.First; a < lane.Limit && lane.Stream; a++ {
			if c := b.launchOf(a); c != cdg.NoAct {
				look(g.Trace.Events[g.Acts[a].Event].Name)
				list = append(list, launch{c, a})
			}
		}
	}
	slices.SortFunc(list, func(x, y launch) int {
		return cmp.Or(cmp.Compare(g.Acts[x.call].Start, g.Acts[y.call].Start), cmp.Compare(x.op, y.op))
	})
	b.meant = map[cdg.ActID][]cdg.ActID{}
	last, any := map[cdg.LaneID]cdg.ActID{}, cdg.NoLane // per stream
	for _, x := range list {
		call, op, e := &g.Acts[x.call], &g.Acts[x.op], &g.Trace.Events[g.Acts[x.op].Event]
		c := threads[call.Lane]
		if c == nil {
			c = &calling{stream: cdg.NoLane, last: cdg.NoAct}
			threads[call.Lane] = c
		}
		n := sort.Search(len(c.waits), func(i int) bool { return c.waits[i] >= call.Start })
		c.waits = c.waits[n:]
		if !(e.Kind.Device() && comm[e.Name]) {
			for range n {
				c.awaits()
			}
			if len(c.awaited) > 0 {
				b.meant[x.op], c.awaited = c.awaited, nil
			}
			c.stream, c.last, last[op.Lane], any = op.Lane, cdg.NoAct, x.op, op.Lane
			continue
		}
		for range n - 1 {
			c.awaits()
		}
		own := c.stream
		if own == cdg.NoLane {
			own = any
		}
		if n > 0 && own != cdg.NoLane {
			b.meant[x.op] = []cdg.ActID{last[own]}
		}
		if c.last = x.op; gather[e.Name] {
			c.gathers = append(c.gathers, x.op)
		}
	}
}

// meantDeps adds the waits of an operation that follow from the order of the program's calls, where neither a record of a wait nor a wait for a
// later operation of the same stream covers them.
func (b *depLayer) meantDeps(k cdg.ActID, row []cdg.Wait) {
	g := b.g
	for _, x := range b.meant[k] {
		lag := g.Acts[k].Start - g.Acts[x].End
		if lag < 0 || b.m.pointOf(x) == none || slices.ContainsFunc(row, func(w cdg.Wait) bool {
			return w.Rule == cdg.EventWait && (w.Evidence == cdg.BySyncEvent || g.Acts[w.From].Lane == g.Acts[x].Lane && g.Acts[w.From].End >= g.Acts[x].End)
		}) {
			continue
		}
		b.deps = append(b.deps, b.after(min(b.g.Usual[cdg.EventLag].Median, lag), dep{src: b.m.pointOf(x), wait: none, rule: cdg.EventWait, kind: kindOf(cdg.EventWait), typical: cdg.EventLag, flag: held}))
	}
}
