package whatif

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/par"
)

// orderer puts the points of a model, and what names them, into their order.
type orderer struct{ *modelBuilder }

// order puts the points into the order of their recorded times, threads before streams at one instant: a launch call
// starts before its operation. Of threads that meet at one instant, who hands over comes first.
func (b orderer) order() {
	g, m := b.g, b.m
	m.act = make([]cdg.ActID, len(m.at))
	for i := range m.act {
		m.act[i] = cdg.NoAct
	}
	for op, i := range m.opPoint {
		if i != none {
			m.act[i] = m.firstOp + cdg.ActID(op)
		}
	}
	start := func(i int32) int64 {
		if a := m.act[i]; a != cdg.NoAct {
			return g.Acts[a].Start
		}
		return m.at[i]
	}
	points := make([]int32, 0, len(m.at))
	for i := 1; i < len(m.at); i++ {
		points = append(points, int32(i))
	}
	cdg.SortRuns(points, func(x, y *int32) bool { // threads have the lower numbers
		s, t := start(*x), start(*y)
		return s < t || s == t && *x < *y
	})
	met := make(Set, (len(m.at)+63)/64) // borders with a source on another thread at the same instant
	inRanges(len(m.at), func(from, to int) {
		for i := max(from, 1); i < to; i++ {
			if m.act[i] == cdg.NoAct && slices.ContainsFunc(m.deps[m.depFrom[i]:m.depFrom[i+1]], func(d dep) bool { return b.meets(&d, int32(i)) }) {
				met.addShared(cdg.ActID(i))
			}
		}
	})
	place := make([]int32, len(m.at)) // 0: not placed yet
	next := int32(1)
	var put func(i int32)
	put = func(i int32) {
		if place[i] != 0 {
			return
		}
		if met.Has(cdg.ActID(i)) {
			place[i] = -1
			for _, d := range m.deps[m.depFrom[i]:m.depFrom[i+1]] {
				if b.meets(&d, i) {
					if place[d.src] == -1 {
						panic("whatif: internal error: threads wait for each other")
					}
					put(d.src)
				}
			}
		}
		place[i] = next
		next++
	}
	for _, i := range points {
		put(i)
	}
	b.renumber(place)
}

// meets reports whether a border has a source on a thread at the same instant.
func (b orderer) meets(d *dep, border int32) bool {
	m := b.m
	return d.src > 0 && m.act[d.src] == cdg.NoAct && m.at[d.src] == m.at[border]
}

// renumber gives every point its place. One list is brought into order after the other, so that little is held twice.
func (b orderer) renumber(place []int32) {
	m := b.m
	old := make([]int32, len(m.at)) // per place: the point before
	for i, p := range place {
		old[p] = int32(i)
	}
	m.at = inOrder(m.at, old)
	m.cost.short = inOrder(m.cost.short, old)
	long := make(map[int32]int64, len(m.cost.long))
	for i, ns := range m.cost.long {
		long[place[i]] = ns
	}
	m.cost.long = long
	m.act = inOrder(m.act, old)
	b.renumberDeps(place, old)
	for i := range m.beside {
		m.beside[i].call = place[m.beside[i].call]
	}
	for _, list := range m.puts {
		for i := range list {
			list[i] = put{place[list[i].op], place[list[i].launch]}
		}
	}
	for _, list := range [][]gap{m.gaps, m.idle} {
		for i := range list {
			list[i].point = place[list[i].point]
		}
		cdg.SortRuns(list, func(x, y *gap) bool { return x.point < y.point }) // a run for each thread
	}
	inRanges(len(m.opPoint), func(from, to int) {
		for i, p := range m.opPoint[from:to] {
			if p != none {
				m.opPoint[from+i] = place[p]
			}
		}
	})
	for l := range m.border {
		list := m.border[l]
		inRanges(len(list), func(from, to int) {
			for i, p := range list[from:to] {
				list[from+i] = place[p]
			}
		})
	}
	m.prev = make([]int32, len(old))
	for i := range m.prev {
		m.prev[i] = none
	}
	for _, list := range m.border {
		for i := 1; i < len(list); i++ {
			m.prev[list[i]] = list[i-1]
		}
	}
}

// renumberDeps brings the sources of points into the order of these. It moves a quarter of each at a time, in the room of a quarter of
// them: this is where the program holds most.
func (b orderer) renumberDeps(place, old []int32) {
	m := b.m
	depFrom := make([]int32, len(m.depFrom))
	for i, o := range old {
		depFrom[i+1] = depFrom[i] + m.depFrom[o+1] - m.depFrom[o]
	}
	type small struct {
		rule    cdg.Rule
		kind    delayKind
		typical cdg.Lag
		flag    uint8
	}
	moveRows(m.deps, m.depFrom, depFrom, old, func(d *dep) int32 { return place[d.src] }, func(d *dep, x int32) { d.src = x })
	moveRows(m.deps, m.depFrom, depFrom, old, func(d *dep) int32 { return d.lag }, func(d *dep, x int32) { d.lag = x })
	moveRows(m.deps, m.depFrom, depFrom, old, func(d *dep) int32 { return d.wait }, func(d *dep, x int32) { d.wait = x })
	moveRows(m.deps, m.depFrom, depFrom, old, func(d *dep) small { return small{d.rule, d.kind, d.typical, d.flag} },
		func(d *dep, x small) { d.rule, d.kind, d.typical, d.flag = x.rule, x.kind, x.typical, x.flag })
	m.depFrom = depFrom
}

// moveRows moves a part of each element of a CSR list to where its row goes: row i of to is row old[i] of from.
func moveRows[T, Part any](list []T, from, to, old []int32, get func(*T) Part, set func(*T, Part)) {
	moved := make([]Part, len(list))
	inRanges(len(old), func(first, limit int) {
		for i := first; i < limit; i++ {
			row := moved[to[i]:to[i+1]]
			for k := range row {
				row[k] = get(&list[int(from[old[i]])+k])
			}
		}
	})
	inRanges(len(list), func(first, limit int) {
		for i := first; i < limit; i++ {
			set(&list[i], moved[i])
		}
	})
}

// inRanges shares n things out among the processors.
func inRanges(n int, do func(from, to int)) {
	par.EachRange(n, par.Ranges(n, pointsRange), func(_, from, to int) { do(from, to) })
}

// inOrder returns a list in the order of old, which has for each place where it stands in the list.
func inOrder[T any](list []T, old []int32) []T {
	out := make([]T, len(old))
	inRanges(len(old), func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = list[old[i]]
		}
	})
	return out
}
