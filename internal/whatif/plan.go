package whatif

import (
	"overlay/internal/cdg"
)

// plan is a scenario as it meets the points of a model.
type plan struct {
	ratios  []ratio // ratios[0] is 1
	of      []int32 // per activity: its ratio; nil: all keep their time
	gaps    ratio   // of untraced time
	cost    []int64 // per point, as it is then
	depFrom []int32
	deps    []dep
}

// plan works a scenario out.
func (m *Model) plan(s *Scenario) *plan {
	p := &plan{ratios: []ratio{{1, 1}}, gaps: ratio{1, 1}, depFrom: m.depFrom, deps: m.deps}
	p.cost = append(make([]int64, 0, len(m.cost)), m.cost...)
	removed, noWait, noQueue := Set(nil), Set(nil), false
	var drops []*Change
	var lags [numDelayKinds]ratio
	for k := range lags {
		lags[k] = ratio{1, 1}
	}
	lagged := false
	for i := range s.Changes {
		c := &s.Changes[i]
		switch c.Verb {
		case Scale:
			p.scale(m, c.On, ratio{c.Num, c.Den})
		case SetTime:
			own := map[cdg.ActID]int64{}
			m.eachOwn(func(a cdg.ActID, ns int64) {
				if c.On.Has(a) {
					own[a] += ns
				}
			})
			c.On.Each(func(a cdg.ActID) { p.set(m, a, own[a], c.NS) })
		case Shrink:
			p.shrink(m, c)
		case Bandwidth:
			p.bandwidth(m, c)
		case Remove:
			removed = union(removed, c.On)
		case Replace:
			on, last := union(nil, c.On), cdg.NoAct
			c.On.Each(func(a cdg.ActID) {
				if last == cdg.NoAct || m.g.Acts[a].Start >= m.g.Acts[last].Start {
					last = a
				}
			})
			if last != cdg.NoAct {
				on[last>>6] &^= 1 << (last & 63)
				p.set(m, last, m.ownOf(last), c.NS)
				removed = union(removed, on)
			}
		case NoWait:
			noWait = union(noWait, c.On)
		case Drop:
			drops = append(drops, c)
		case NoQueue:
			noQueue = true
		case Delay:
			for _, k := range c.Kinds {
				lags[k] = lags[k].times(ratio{c.Num, c.Den})
				lagged = true
			}
		}
	}
	p.gaps = lags[gapDelay]
	if removed != nil {
		p.scale(m, removed, ratio{0, 1})
	}
	p.spread(m)
	if removed != nil || noWait != nil || noQueue || lagged || drops != nil {
		p.edit(m, removed, m.endsOf(noWait), drops, noQueue, &lags)
	}
	return p
}

func union(s, t Set) Set {
	out := make(Set, len(t))
	copy(out, s)
	for i := range t {
		out[i] |= t[i]
	}
	return out
}

// ratioOf gives an activity another ratio.
func (p *plan) ratioOf(m *Model, a cdg.ActID, r ratio) {
	if p.of == nil {
		p.of = make([]int32, len(m.g.Acts))
	}
	p.ratios = append(p.ratios, r)
	p.of[a] = int32(len(p.ratios) - 1)
}

// scale multiplies the time of a set. Activities with the same ratio before have the same after.
func (p *plan) scale(m *Model, on Set, r ratio) {
	if p.of == nil {
		p.of = make([]int32, len(m.g.Acts))
	}
	to := map[int32]int32{}
	on.Each(func(a cdg.ActID) {
		k, ok := to[p.of[a]]
		if !ok {
			p.ratios = append(p.ratios, p.ratios[p.of[a]].times(r))
			k = int32(len(p.ratios) - 1)
			to[p.of[a]] = k
		}
		p.of[a] = k
	})
}

// set gives an activity that had some ns of own time another number of them.
func (p *plan) set(m *Model, a cdg.ActID, had, ns int64) {
	if had > 0 {
		p.ratioOf(m, a, ratio{ns, had})
	}
}

// shrink gives each slice of a set, with what it encloses, a number of ns in all. Of slices inside each other the outer
// one counts.
func (p *plan) shrink(m *Model, c *Change) {
	sum := map[cdg.ActID]int64{} // per outermost slice of the set: own time in all
	m.eachOwn(func(a cdg.ActID, ns int64) {
		if o := m.outermost(a, c.On); o != cdg.NoAct {
			sum[o] += ns
		}
	})
	to := map[cdg.ActID]int32{}
	for a := range m.g.Acts {
		o := m.outermost(cdg.ActID(a), c.On)
		if o == cdg.NoAct || sum[o] == 0 {
			continue
		}
		k, ok := to[o]
		if !ok {
			p.ratioOf(m, o, ratio{c.NS, sum[o]})
			k = p.of[o]
			to[o] = k
		}
		p.of[a] = k
	}
}

// outermost is the outermost slice of a set around an activity, itself included; NoAct without one. It looks inside
// the activity's own thread or stream.
func (m *Model) outermost(a cdg.ActID, on Set) cdg.ActID {
	best := cdg.NoAct
	for ; a != cdg.NoAct; a = m.g.Parent[a] {
		if on.Has(a) {
			best = a
		}
	}
	return best
}

// eachOwn calls visit for each stretch of own time in the window, and for each operation.
func (m *Model) eachOwn(visit func(a cdg.ActID, ns int64)) {
	for i := range m.parts {
		if p := &m.parts[i]; p.act != cdg.NoAct {
			visit(p.act, p.ns)
		}
	}
	for i, a := range m.act {
		if a != cdg.NoAct {
			visit(a, m.cost[i])
		}
	}
}

// ownOf is the own time of an activity in the window.
func (m *Model) ownOf(a cdg.ActID) int64 {
	if p := m.opPoint[a]; p != none {
		return m.cost[p]
	}
	sum := int64(0)
	lane := m.g.Acts[a].Lane
	for i := m.partFirst[lane]; i < m.partFirst[lane+1]; i++ {
		if m.parts[i].act == a {
			sum += m.parts[i].ns
		}
	}
	return sum
}

// spread applies the ratios to the points.
func (p *plan) spread(m *Model) {
	if p.of == nil && p.gaps == (ratio{1, 1}) {
		return
	}
	for i := range m.parts {
		x := &m.parts[i]
		if d := p.partOf(x) - x.ns; d != 0 {
			p.cost[x.point] += d
		}
	}
	if p.of == nil {
		return
	}
	for i, a := range m.act {
		if a != cdg.NoAct && p.of[a] != 0 {
			p.cost[i] = p.ratios[p.of[a]].of(m.cost[i])
		}
	}
}

// partOf is how long a stretch of own time is then.
func (p *plan) partOf(x *part) int64 {
	switch {
	case x.act == cdg.NoAct:
		if p.gaps != (ratio{1, 1}) {
			return p.gaps.of(x.ns)
		}
	case p.of != nil && p.of[x.act] != 0:
		return p.ratios[p.of[x.act]].of(x.ns)
	}
	return x.ns
}

// endsOf is the points at which calls return.
func (m *Model) endsOf(calls Set) map[int32]bool {
	if calls == nil {
		return nil
	}
	out := map[int32]bool{}
	calls.Each(func(a cdg.ActID) {
		act := &m.g.Acts[a]
		if p := m.borderAt(act.Lane, act.End); p != none {
			out[p] = true
		}
	})
	return out
}

// edit makes the sources of a scenario that takes some away or makes delays shorter.
func (p *plan) edit(m *Model, removed Set, noWait map[int32]bool, drops []*Change, noQueue bool, lags *[numDelayKinds]ratio) {
	p.depFrom, p.deps = make([]int32, 1, len(m.depFrom)), make([]dep, 0, len(m.deps))
	for i := range m.at {
		gone := m.act[i] != cdg.NoAct && removed.Has(m.act[i])
		for _, d := range m.deps[m.depFrom[i]:m.depFrom[i+1]] {
			switch {
			case gone && (d.rule == cdg.Launch || d.src > 0 && m.act[d.src] == cdg.NoAct):
				continue // what it waited for in its stream holds back what follows; its launch does not
			case noWait[int32(i)] && d.kind == syncDelay, noQueue && d.rule == cdg.QueueFull, m.dropped(int32(i), &d, drops):
				continue
			}
			if gone && d.src > 0 {
				d.lag, d.flag = 0, d.flag|scaled
			}
			if d.src > 0 && d.lag > 0 && lags[d.kind] != (ratio{1, 1}) {
				d.lag, d.flag = lags[d.kind].of(d.lag), d.flag|scaled
			}
			p.deps = append(p.deps, d)
		}
		p.depFrom = append(p.depFrom, int32(len(p.deps)))
	}
}

// dropped reports whether a source of a point is one that a change takes away.
func (m *Model) dropped(i int32, d *dep, drops []*Change) bool {
	if d.src == 0 || m.act[i] == cdg.NoAct || m.act[d.src] == cdg.NoAct {
		return false
	}
	for _, c := range drops {
		if c.On.Has(m.act[i]) && (c.For.Has(m.act[d.src]) || c.For == nil && (d.rule == cdg.EventWait || d.rule == cdg.GraphOrder)) {
			return true
		}
	}
	return false
}
