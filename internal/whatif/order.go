package whatif

import (
	"overlay/internal/cdg"
)

// order puts the points into the order of their recorded times, threads before streams at one instant: a launch call
// starts before its operation. Of threads that meet at one instant, who hands over comes first.
func (b *modelBuilder) order() {
	g, m := b.g, b.m
	type key struct {
		t  int64
		id int32
	}
	keys := make([]key, 0, len(m.at))
	for i := 1; i < len(m.at); i++ {
		k := key{m.at[i], int32(i)}
		if a := m.act[i]; a != cdg.NoAct {
			k.t = g.Acts[a].Start
		}
		keys = append(keys, k)
	}
	cdg.SortRuns(keys, func(x, y *key) bool { return x.t < y.t || x.t == y.t && x.id < y.id }) // threads have the lower numbers
	place := make([]int32, len(m.at))                                                          // 0: not placed yet
	next := int32(1)
	var put func(i int32)
	put = func(i int32) {
		if place[i] != 0 {
			return
		}
		place[i] = -1
		if m.act[i] == cdg.NoAct {
			for _, d := range m.deps[m.depFrom[i]:m.depFrom[i+1]] {
				if d.src > 0 && m.act[d.src] == cdg.NoAct && m.at[d.src] == m.at[i] {
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
	for _, k := range keys {
		put(k.id)
	}
	b.renumber(place)
}

// renumber gives every point its place. One list is brought into order after the other, so that little is held twice.
func (b *modelBuilder) renumber(place []int32) {
	m := b.m
	old := make([]int32, len(m.at)) // per place: the point before
	for i, p := range place {
		old[p] = int32(i)
	}
	m.at = inOrder(m.at, old)
	m.cost = inOrder(m.cost, old)
	m.gap = inOrder(m.gap, old)
	m.act = inOrder(m.act, old)
	m.prev = inOrder(m.prev, old)
	for i, p := range m.prev {
		if p != none {
			m.prev[i] = place[p]
		}
	}
	depFrom, deps := make([]int32, 1, len(m.depFrom)), make([]dep, 0, len(m.deps))
	for _, o := range old {
		for _, d := range m.deps[m.depFrom[o]:m.depFrom[o+1]] {
			d.src = place[d.src]
			deps = append(deps, d)
		}
		depFrom = append(depFrom, int32(len(deps)))
	}
	m.depFrom, m.deps = depFrom, deps
	for i := range m.beside {
		m.beside[i].call = place[m.beside[i].call]
	}
	for _, list := range m.puts {
		for i := range list {
			list[i] = put{place[list[i].op], place[list[i].launch]}
		}
	}
	for i := range m.parts {
		m.parts[i].point = place[m.parts[i].point]
	}
	for i, p := range m.opPoint {
		if p != none {
			m.opPoint[i] = place[p]
		}
	}
	for l := range m.border {
		for i := range m.border[l] {
			m.border[l][i].point = place[m.border[l][i].point]
		}
	}
}

// inOrder returns a list in the order of old, which has for each place where it stands in the list.
func inOrder[T any](list []T, old []int32) []T {
	out := make([]T, len(old))
	for i, o := range old {
		out[i] = list[o]
	}
	return out
}
