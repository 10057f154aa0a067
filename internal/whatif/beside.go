package whatif

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/cdg"
)

// relate puts lanes that belong together into sets: a stream and the threads that launch on it, streams that wait for each
// other, threads that hand over to each other. Threads of different sets run beside each other: a synchronisation of the device still
// waits for what a thread beside has launched, but for how much of it depends on when the call comes.
func (b *modelBuilder) relate() {
	g := b.g
	set := cdg.NewLaneSets(len(g.Lanes))
	handed := map[[2]cdg.LaneID]bool{} // from thread to thread
	waited := func(l cdg.LaneID, w *cdg.Wait) {
		switch w.Rule {
		case cdg.Handoff:
			from := g.Acts[w.From].Lane
			handed[[2]cdg.LaneID{l, from}] = true
			if handed[[2]cdg.LaneID{from, l}] { // a thread that was started and never answers runs on by itself
				set.Join(l, from)
			}
		case cdg.Launch, cdg.EventWait, cdg.GraphOrder:
			set.Join(l, g.Acts[w.From].Lane)
		}
	}
	for a := range g.Acts {
		row := g.Sources(cdg.ActID(a))
		for i := range row {
			waited(g.Acts[a].Lane, &row[i])
		}
	}
	b.eachPiece(0, len(g.Pieces), func(i int, l cdg.LaneID) {
		if b.waited(g.Pieces[i].Begun) {
			waited(l, &g.Waits[g.Pieces[i].Begun])
		}
	})
	b.set = set.Done()
}

// put is an operation of a stream, and the start of the call that launched it, as points.
type put struct{ op, launch int32 }

// beside is a source of a call's return that lies in a stream of a thread beside: whatever that has launched there when
// the call begins.
type beside struct {
	call int32      // the start of the call
	lane cdg.LaneID // the stream
	pos  int32      // what it was in the recording: an index into Model.puts[lane]
	wait int32      // the wait that says so, as of a dep
}

// besides makes a source of a call's return one of a thread beside, if it is one.
func (b *modelBuilder) besides(d *dep, call, op cdg.ActID) {
	g, m := b.g, b.m
	stream := g.Acts[op].Lane
	if b.set[stream] == b.set[g.Acts[call].Lane] {
		return
	}
	if m.puts == nil {
		m.puts = map[cdg.LaneID][]put{}
	}
	list, ok := m.puts[stream]
	if !ok {
		list = b.putsOn(stream)
		m.puts[stream] = list
	}
	start, p := b.borderAt(g.Acts[call].Lane, g.Acts[call].Start), m.pointOf(op)
	at := slices.IndexFunc(list, func(x put) bool { return x.op == p })
	if start == none || at < 0 {
		return
	}
	d.flag |= moving
	m.beside = append(m.beside, beside{start, stream, int32(at), d.wait})
	d.wait = int32(len(m.beside) - 1)
}

// putsOn lists the operations of a stream in the order of their launches.
func (b *modelBuilder) putsOn(stream cdg.LaneID) []put {
	g, m := b.g, b.m
	var list []put
	for k := g.Lanes[stream].First; k < g.Lanes[stream].Limit; k++ {
		c := b.launchOf(k)
		if c == cdg.NoAct || m.pointOf(k) == none {
			continue
		}
		if p := b.borderAt(g.Acts[c].Lane, g.Acts[c].Start); p != none {
			list = append(list, put{m.pointOf(k), p})
		}
	}
	slices.SortStableFunc(list, func(x, y put) int { return cmp.Compare(m.at[x.launch], m.at[y.launch]) })
	return list
}

// lastPut is what a thread beside has put last on its stream when a call begins, as a point before point i; none when
// there is nothing yet.
func (m *Model) lastPut(x *beside, end []int64, i int32) int32 {
	list, t := m.puts[x.lane], end[x.call]
	n := int(x.pos) + 1
	if end[list[x.pos].launch] > t {
		n = sort.Search(n, func(k int) bool { return end[list[k].launch] > t })
	} else {
		for n < len(list) && list[n].op < i && list[n].launch < i && end[list[n].launch] <= t {
			n++
		}
	}
	if n == 0 {
		return none
	}
	return list[n-1].op
}
