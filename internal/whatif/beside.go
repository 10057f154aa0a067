package whatif

import (
	"cmp"
	"slices"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/par"
)

// relater finds the lanes that belong together.
type relater struct{ *modelBuilder }

// relate puts lanes that belong together into sets: a stream and the threads that launch on it, streams that wait for each
// other, threads that hand over to each other. Threads of different sets run beside each other: a synchronisation of the device still
// waits for what a thread beside has launched, but for how much of it depends on when the call comes.
func (b relater) relate() {
	g := b.g
	of := make([]cdg.LaneID, len(g.Lanes))
	for l := range of {
		of[l] = cdg.LaneID(l)
	}
	find := func(l cdg.LaneID) cdg.LaneID {
		for of[l] != l {
			of[l] = of[of[l]]
			l = of[l]
		}
		return l
	}
	handed := map[lanePair]bool{} // from thread to thread
	join := func(p lanePair) {
		if p.handoff {
			handed[p] = true
			if !handed[lanePair{p.to, p.from, true}] {
				return // a thread that was started and never answers runs on by itself
			}
		}
		x, y := find(p.from), find(p.to)
		of[max(x, y)] = min(x, y)
	}
	for _, pairs := range b.lanePairs() {
		for p := range pairs {
			join(p)
		}
	}
	for l := range of {
		of[l] = find(cdg.LaneID(l))
	}
	b.set = of
}

// lanePair is a lane that waited for another one.
type lanePair struct {
	from, to cdg.LaneID
	handoff  bool
}

// lanePairs finds the lanes that belong together, some of them several times.
func (b relater) lanePairs() (sets []map[lanePair]bool) {
	g := b.g
	find := func(n int, each func(from, to int, add func(l cdg.LaneID, w *cdg.Wait))) {
		parts := make([]map[lanePair]bool, par.Ranges(n, max(pointsRange, len(g.Lanes))))
		par.EachRange(n, len(parts), func(part, from, to int) {
			set, last := map[lanePair]bool{}, lanePair{cdg.NoLane, cdg.NoLane, false}
			each(from, to, func(l cdg.LaneID, w *cdg.Wait) {
				switch w.Rule {
				case cdg.Launch, cdg.EventWait, cdg.GraphOrder, cdg.Handoff:
				default:
					return
				}
				if p := (lanePair{l, g.Acts[w.From].Lane, w.Rule == cdg.Handoff}); p != last {
					set[p], last = true, p
				}
			})
			parts[part] = set
		})
		sets = append(sets, parts...)
	}
	find(len(g.Acts), func(from, to int, add func(l cdg.LaneID, w *cdg.Wait)) {
		for a := from; a < to; a++ {
			row := g.Sources(cdg.ActID(a))
			for i := range row {
				add(g.Acts[a].Lane, &row[i])
			}
		}
	})
	find(len(g.Pieces), func(from, to int, add func(l cdg.LaneID, w *cdg.Wait)) {
		b.eachPiece(from, to, func(i int, l cdg.LaneID) {
			if b.waited(g.Pieces[i].Begun) {
				add(l, &g.Waits[g.Pieces[i].Begun])
			}
		})
	})
	return sets
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
