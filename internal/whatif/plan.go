package whatif

import (
	"slices"

	"overlay/internal/cdg"
)

// plan is a scenario as it meets the points of a model.
type plan struct {
	ratios  []ratio // ratios[0] is 1
	of      []int32 // per activity: its ratio; nil: all keep their time
	touched Set     // the activities that may have another ratio; nil without of
	before  *plan   // what was worked out before; touched, and what spread adds, is beside it
	lags    [numDelayKinds]ratio
	gaps    ratio // of untraced time
	cost    spans // per point, as it is then
	depFrom []int32
	deps    []dep
	far     []int64 // lags of deps
	edits   *edits  // of deps; nil: all are as they were

	spareOf      []int32 // room for of
	spareTouched Set
}

// unplanned is a plan that changes nothing.
func (m *Model) unplanned() *plan {
	p := &plan{ratios: []ratio{{1, 1}}, gaps: ratio{1, 1}, cost: m.cost}
	for k := range p.lags {
		p.lags[k] = ratio{1, 1}
	}
	return p
}

// Prepared is a change that stands for several where a scenario begins with it: what becomes of each activity is worked out once. Changes of
// other verbs than Scale and Delay stay what they are.
func (m *Model) Prepared(changes []Change) []Change {
	if len(changes) == 0 || slices.ContainsFunc(changes, func(c Change) bool { return c.Verb != Scale && c.Verb != Delay }) {
		return changes
	}
	p := &plan{}
	m.plan(p, &Scenario{Changes: changes})
	return []Change{{Verb: prepared, plan: p}}
}

// plan works a scenario out, in the room of an earlier plan.
func (m *Model) plan(p *plan, s *Scenario) {
	if p.before != nil && p.before.of != nil {
		clear(p.of) // all may have other ratios
	}
	if p.spareOf == nil {
		p.spareOf, p.spareTouched = p.of, p.touched
	}
	changes, before := s.Changes, m.nothing
	if len(changes) > 0 && changes[0].Verb == prepared {
		changes, before = changes[1:], changes[0].plan
	}
	p.cost.copyOf(&before.cost)
	*p = plan{ratios: append(p.ratios[:0], before.ratios...), before: before, lags: before.lags, cost: p.cost, depFrom: m.depFrom, deps: m.deps, far: m.far, spareOf: p.spareOf, spareTouched: p.spareTouched}
	if before.of != nil {
		copy(p.ratioed(m), before.of)
	}
	removed, noWait, fetched, noQueue := Set(nil), Set(nil), Set(nil), false
	var drops []*Change
	for i := range changes {
		c := &changes[i]
		switch c.Verb {
		case Scale:
			p.scale(m, c.On, ratio{c.Num, c.Den})
		case SetTime:
			c.On.Each(func(a cdg.ActID) { p.set(m, a, m.ownOf(a), c.NS) })
		case Shrink:
			fetched = p.shrink(m, c, fetched)
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
				p.lags[k] = p.lags[k].times(ratio{c.Num, c.Den})
			}
		}
	}
	p.gaps = p.lags[gapDelay]
	if removed != nil {
		p.scale(m, removed, ratio{0, 1})
	}
	p.spread(m)
	var changed [numDelayKinds]bool
	for k := range p.lags {
		changed[k] = fetched != nil || drops != nil || noQueue || p.lags[k] != (ratio{1, 1}) || noWait != nil && delayKind(k) == syncDelay
	}
	if removed != nil || slices.Contains(changed[:], true) {
		p.edits = &edits{removed, m.endsOf(noWait), fetched, drops, noQueue, p.lags, changed}
	}
}

func union(s, t Set) Set {
	out := make(Set, len(t))
	copy(out, s)
	for i := range t {
		out[i] |= t[i]
	}
	return out
}

// ratioed is the ratio of each activity.
func (p *plan) ratioed(m *Model) []int32 {
	if p.of == nil {
		p.of, p.touched = p.spareOf, p.spareTouched
		if p.spareOf, p.spareTouched = nil, nil; p.of == nil {
			p.of, p.touched = make([]int32, len(m.g.Acts)), m.NewSet()
		} else {
			for i, w := range p.touched { // all others keep their time
				if w != 0 {
					clear(p.of[i<<6 : min(i<<6+64, len(p.of))])
				}
			}
			clear(p.touched)
		}
	}
	return p.of
}

// ratioOf gives an activity another ratio.
func (p *plan) ratioOf(m *Model, a cdg.ActID, r ratio) {
	p.ratioed(m)
	p.ratios = append(p.ratios, r)
	p.of[a] = int32(len(p.ratios) - 1)
	p.touched.Add(a)
}

// scale multiplies the time of a set. Activities with the same ratio before have the same after.
func (p *plan) scale(m *Model, on Set, r ratio) {
	of, to := p.ratioed(m), make([]int32, len(p.ratios)) // per ratio before: the one after; 0: not known yet
	on.Each(func(a cdg.ActID) {
		k := &to[of[a]]
		if *k == 0 {
			p.ratios = append(p.ratios, p.ratios[of[a]].times(r))
			*k = int32(len(p.ratios) - 1)
		}
		of[a] = *k
	})
	for i, w := range on {
		p.touched[i] |= w
	}
}

// set gives an activity that had some ns of own time another number of them.
func (p *plan) set(m *Model, a cdg.ActID, had, ns int64) {
	if had > 0 {
		p.ratioOf(m, a, ratio{ns, had})
	}
}

// shrink gives each slice of a set, with what it encloses, a number of ns in all. Of slices inside each other the outer
// one counts. It adds the points at which fetches of batches among them went on because they were handed one: a fetch that takes a given
// time waits neither for the thread that pins nor for what that one waited for.
func (p *plan) shrink(m *Model, c *Change, fetched Set) Set {
	of, own := p.ratioed(m), m.own()
	limit := cdg.ActID(0) // behind what the slice before encloses
	c.On.Each(func(a cdg.ActID) {
		if a < limit {
			return
		}
		sum := int64(0)
		if limit = m.g.Enclosed(a); a >= m.firstOp {
			sum = m.ownOf(a)
		} else {
			for in := a; in < limit; in++ {
				sum += own.of(int32(in))
			}
		}
		if handed := m.handedIn(a); len(handed) > 0 {
			if fetched == nil {
				fetched = make(Set, (len(m.at)+63)/64)
			}
			for _, point := range handed {
				fetched.Add(cdg.ActID(point))
			}
			if last := handed[len(handed)-1]; sum == 0 {
				p.cost.set(last, p.cost.of(last)+c.NS)
			}
		}
		if sum == 0 {
			return
		}
		p.ratios = append(p.ratios, ratio{c.NS, sum})
		for in := a; in < limit; in++ {
			of[in] = int32(len(p.ratios) - 1)
			p.touched.Add(in)
		}
	})
	return fetched
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
		if a := m.parts[i].act; a > cdg.NoAct {
			visit(a, m.partNS(int32(i)))
		}
	}
	for i, a := range m.act {
		if a != cdg.NoAct {
			visit(a, m.cost.of(int32(i)))
		}
	}
}

// ownOf is the own time of an activity in the window.
func (m *Model) ownOf(a cdg.ActID) int64 {
	if a >= m.firstOp {
		if p := m.pointOf(a); p != none {
			return m.cost.of(p)
		}
		return 0
	}
	return m.own().of(int32(a))
}

// ownTimes is the own time of each activity of a thread in the window.
func (m *Model) ownTimes() *spans {
	own := &spans{short: make([]uint32, m.firstOp)}
	for i := range m.parts {
		if a := int32(m.parts[i].act); a >= 0 {
			own.set(a, own.of(a)+m.partNS(int32(i)))
		}
	}
	return own
}

// spread applies the ratios to the points.
func (p *plan) spread(m *Model) {
	gaps, touched := p.gaps != p.before.gaps, p.touched
	if p.of == nil && !gaps {
		return
	}
	if p.of == nil {
		touched = m.NewSet()
	}
	for l := range m.g.Lanes {
		lane := &m.g.Lanes[l]
		if lane.Stream || !gaps && !p.touched.any(lane.First, lane.Limit) {
			continue
		}
		points, more := m.border[l], int64(0) // before the point at hand: more than it was
		for i, limit := m.partFirst[l], m.partFirst[l+1]; i < limit; i++ {
			x := &m.parts[i]
			if a := x.act; a > cdg.NoAct && touched[a>>6]&(1<<(a&63)) != 0 || a == cdg.NoAct && gaps {
				ns := m.partNS(i)
				more += p.partOf(a, ns) - p.before.partOf(a, ns)
			}
			if x.time&lastPart != 0 {
				if points = points[1:]; more != 0 {
					p.cost.set(points[0], p.cost.of(points[0])+more)
					more = 0
				}
			}
		}
	}
	if p.of == nil {
		return
	}
	p.touched.eachFrom(m.firstOp, func(a cdg.ActID) {
		if point := m.pointOf(a); point != none && p.of[a] != 0 {
			p.cost.set(point, p.ratios[p.of[a]].of(m.cost.of(point)))
		}
	})
}

// partOf is how long a stretch of own time of an activity, or of a gap, is then.
func (p *plan) partOf(a cdg.ActID, ns int64) int64 {
	switch {
	case a == cdg.NoAct:
		if p.gaps != (ratio{1, 1}) {
			return p.gaps.of(ns)
		}
	case a > cdg.NoAct && p.of != nil && p.of[a] != 0:
		return p.ratios[p.of[a]].of(ns)
	}
	return ns
}

// back is a slice that ends at a point at which its thread waited for operations.
type back struct {
	point int32
	call  cdg.ActID
}

// findReturns lists the slices that end where threads waited for operations.
func (m *Model) findReturns() (out []back) {
	g := m.g
	for l, list := range m.border {
		i, last := g.PieceFirst[l], g.PieceFirst[l+1]-1
		for _, p := range list {
			for i < last && g.Pieces[i+1].Start < m.at[p] {
				i++
			}
			if !slices.ContainsFunc(m.deps[m.depFrom[p]:m.depFrom[p+1]], func(d dep) bool { return d.kind == syncDelay }) {
				continue
			}
			for a := g.Pieces[i].Owner; a != cdg.NoAct && g.Acts[a].End == m.at[p]; a = g.Parent[a] {
				out = append(out, back{p, a})
			}
		}
	}
	return out
}

// endsOf is the points at which calls return that waited, as a set of points.
func (m *Model) endsOf(calls Set) Set {
	if calls == nil {
		return nil
	}
	out := make(Set, (len(m.at)+63)/64)
	for _, x := range m.returning() {
		if calls.Has(x.call) {
			out.Add(cdg.ActID(x.point))
		}
	}
	return out
}

// edits are what a scenario changes of sources: it takes some away, or makes delays shorter.
type edits struct {
	removed Set
	noWait  Set // of points
	fetched Set // of points: the batch is there
	drops   []*Change
	noQueue bool
	lags    [numDelayKinds]ratio
	changed [numDelayKinds]bool // whether something may change about sources of a kind
}

// source is the delay of a source of point i then, which was lag, whether the scenario set it, and whether the source is still
// there. gone says that the point is an operation that is removed.
func (e *edits) source(m *Model, i int32, gone bool, d *dep, lag int64) (then int64, set, ok bool) {
	switch {
	case gone && (d.rule == cdg.Launch || d.src > 0 && m.act[d.src] == cdg.NoAct):
		return 0, false, false // what it waited for in its stream holds back what follows; its launch does not
	case d.kind == syncDelay && e.noWait.Has(cdg.ActID(i)), d.rule == cdg.Handoff && e.fetched.Has(cdg.ActID(i)), e.noQueue && d.rule == cdg.QueueFull, m.dropped(i, d, e.drops):
		return 0, false, false
	case gone && d.src > 0:
		return 0, true, true
	case d.src > 0 && lag > 0 && e.lags[d.kind] != (ratio{1, 1}):
		return e.lags[d.kind].of(lag), true, true
	}
	return lag, false, true
}

// gone reports whether a point is an operation that is removed.
func (e *edits) gone(m *Model, i int32) bool {
	return e.removed != nil && m.act[i] != cdg.NoAct && e.removed.Has(m.act[i])
}

// apply gives a plan sources of its own, as its edits leave them.
func (p *plan) apply(m *Model) {
	e := p.edits
	p.far = slices.Clip(p.far) // it may grow, and is the model's
	if e == nil {
		p.deps = slices.Clone(p.deps)
		return
	}
	p.edits, p.depFrom, p.deps = nil, make([]int32, 1, len(m.depFrom)), make([]dep, 0, len(m.deps))
	for i := range int32(len(m.at)) {
		gone := e.gone(m, i)
		for _, d := range m.deps[m.depFrom[i]:m.depFrom[i+1]] {
			was := d.lagOf(p.far)
			lag, set, ok := e.source(m, i, gone, &d, was)
			if !ok {
				continue
			}
			if lag != was {
				p.far = d.setLag(lag, p.far)
			}
			if set {
				d.flag |= scaled
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
