package whatif

import (
	"slices"

	"overlay/internal/cdg"
)

// Anchor is a setting under which Chains looks for what comes last: own time of the device's work, own time of threads, and the time of the
// ports, each times so many hundredths.
type Anchor struct{ Device, Thread, Ports int64 }

// Chain is one way in which the start of a port followed from the end of another one: not before that, Fixed and all of Work.
type Chain struct {
	Port  int   // its place in the list; len(list) for the end of the window
	From  int   // place of the port that it follows from, -1 for the start of the window
	Fixed int64 // delays, and what no kind of work is, ns
	Work  []Weight
}

// Weight is own time of one kind, as recorded.
type Weight struct {
	Kind int
	NS   int64
}

// Chains finds why each of some operations starts when it does, and why the window ends: for each anchor the sources that are over last then, back to
// another one of the operations. kinds says of each activity of which kind its own time is, -1 for time that no question changes. What is found has the
// times of the recording whatever the anchor. A chain may be longer or shorter than what it stands for where the anchor shortens what it overlaps with.
// emit gets the chains of one anchor after those of the other; it may not keep their Work.
func (m *Model) Chains(ports []cdg.ActID, anchors []Anchor, kinds []int8, emit func(Chain)) {
	c := &chains{m: m, kinds: kinds, emit: emit, ports: len(ports), portAt: make([]int32, len(m.at)), begins: map[int32]int32{}, partAt: m.partsBefore()}
	for i := range c.portAt {
		c.portAt[i] = none
	}
	device, thread, on := m.NewSet(), m.NewSet(), m.NewSet()
	host := map[cdg.ActID]cdg.Span{}
	for i := range m.g.HostCollectives {
		host[m.g.HostCollectives[i].Act] = m.g.HostCollectives[i].Span
	}
	hints := make([]int32, len(m.g.Lanes))
	for i, a := range ports {
		if p := m.pointOf(a); p != none {
			c.portAt[p] = int32(i)
			on.Add(a)
		} else if x, ok := host[a]; ok {
			l := m.g.Acts[a].Lane
			from, to := m.borderAt(l, x.Start, &hints[l]), m.borderAt(l, x.End, &hints[l])
			if to != none && x.Start < x.End {
				c.portAt[to] = int32(i)
				on.Add(a)
			}
			if from != none {
				c.begins[from] = int32(i)
			}
		}
	}
	for a := range cdg.ActID(len(m.g.Acts)) {
		switch {
		case on.Has(a):
		case a >= m.firstOp:
			device.Add(a)
		default:
			thread.Add(a)
		}
	}
	r := &Result{}
	for _, x := range anchors {
		var s Scenario
		for _, y := range [...]struct {
			on Set
			by int64
		}{{device, x.Device}, {thread, x.Thread}, {on, x.Ports}} {
			if y.by != 100 {
				s.Changes = append(s.Changes, Change{Verb: Scale, On: y.on, Num: y.by, Den: 100})
			}
		}
		r.replay(m, &s)
		c.find(r)
	}
}

// chains is what the anchors of one model share.
type chains struct {
	m      *Model
	kinds  []int8
	emit   func(Chain)
	ports  int
	portAt []int32         // per point: the port whose operation it is, or none; of a thread the port that ends there
	begins map[int32]int32 // points of threads at which ports begin
	partAt []int32         // per point of a thread: its own time lies in parts[partAt[i]:] up to the first that is the last

	// Of one anchor: the points whose last source a point is, as lists.
	r           *Result
	first, next []int32

	sums  []int64 // per kind, along the way to the point at hand
	fixed int64
	work  []Weight
}

// partsBefore finds for each point of a thread where its own time stands, -1 without any.
func (m *Model) partsBefore() []int32 {
	at := make([]int32, len(m.at))
	for i := range at {
		at[i] = none
	}
	for l := range m.border {
		points, begins := m.border[l], true
		for i := m.partFirst[l]; i < m.partFirst[l+1]; i++ {
			if begins {
				points = points[1:]
				at[points[0]] = i
			}
			begins = m.parts[i].time&lastPart != 0
		}
	}
	return at
}

// find walks from the origin and from each port over what followed from it and from nothing later. So every point is met once, however many chains pass
// through it.
func (c *chains) find(r *Result) {
	n := len(c.m.at)
	if c.r = r; c.first == nil {
		c.first, c.next, c.sums = make([]int32, n), make([]int32, n), make([]int64, int(slices.Max(c.kinds))+1)
	}
	for i := range c.first {
		c.first[i] = none
	}
	for i := int32(n - 1); i > 0; i-- { // what a point waits for stands before it
		p := c.parent(i)
		c.next[i], c.first[p] = c.first[p], i
	}
	c.from(0, -1)
	for i := int32(1); i < int32(n); i++ {
		if c.portAt[i] != none {
			c.from(i, int(c.portAt[i]))
		}
	}
}

// parent is the source of a point that was over last, 0 for the origin.
func (c *chains) parent(i int32) int32 {
	switch {
	case c.r.by[i] != none:
		return c.r.source(i)
	case c.m.prev[i] != none:
		return c.m.prev[i]
	}
	return 0
}

// from finds the chains that begin at a port, or at the origin of time.
func (c *chains) from(root int32, port int) {
	c.fixed = 0
	if to, ok := c.begins[root]; ok { // where another one ends
		c.put(Chain{Port: int(to), From: port})
	}
	c.ends(root, port)
	for at := c.first[root]; at != none; {
		if c.portAt[at] == none {
			c.step(at, 1)
			if to, ok := c.begins[at]; ok {
				c.put(Chain{Port: int(to), From: port})
			}
			c.ends(at, port)
			if c.first[at] != none {
				at = c.first[at]
				continue
			}
			c.step(at, -1)
		} else if c.m.act[at] != cdg.NoAct {
			c.reach(at, port)
		}
		for c.next[at] == none {
			if at = c.parent(at); at == root {
				return
			}
			c.step(at, -1)
		}
		at = c.next[at]
	}
}

// step adds to the sums what lies between a point and its source, or takes it away.
func (c *chains) step(i int32, sign int64) {
	m := c.m
	if c.r.by[i] != none {
		c.fixed += sign * c.lag(i)
	}
	switch {
	case m.act[i] != cdg.NoAct:
		c.add(m.act[i], sign*m.cost.of(i))
	case c.r.by[i] == none && m.prev[i] != none:
		left := m.cost.of(i)
		if k := c.partAt[i]; k != none {
			for ; ; k++ {
				ns := m.partNS(k)
				if a := m.parts[k].act; a > cdg.NoAct {
					c.add(a, sign*ns)
					left -= ns
				}
				if m.parts[k].time&lastPart != 0 {
					break
				}
			}
		}
		c.fixed += sign * left
	}
}

func (c *chains) add(a cdg.ActID, ns int64) {
	if k := c.kinds[a]; k >= 0 {
		c.sums[k] += ns
	} else {
		c.fixed += ns
	}
}

// lag is the delay after the source of a point that was over last.
func (c *chains) lag(i int32) int64 {
	d := &c.r.plan.deps[c.r.by[i]]
	return d.lagOf(c.r.plan.far)
}

// reach emits the chain to a port.
func (c *chains) reach(i int32, from int) {
	x, act := Chain{Port: int(c.portAt[i]), From: from}, &c.m.g.Acts[c.m.act[i]]
	switch {
	case act.Start <= c.m.t0: // it ran when the window began
		x.From, x.Fixed = -1, act.Start-c.m.t0
		c.emit(x)
		return
	case c.r.by[i] != none:
		x.Fixed = c.lag(i)
	}
	c.put(x)
}

// ends emits the chain to the end of the window, if the window ends with a point.
func (c *chains) ends(i int32, from int) {
	if c.r.last.point == i {
		c.put(Chain{Port: c.ports, From: from, Fixed: c.r.last.after})
	}
}

func (c *chains) put(x Chain) {
	if x.Fixed += c.fixed; x.From < 0 {
		x.Fixed -= c.m.t0
	}
	c.work = c.work[:0]
	for k, ns := range c.sums {
		if ns != 0 {
			c.work = append(c.work, Weight{k, ns})
		}
	}
	x.Work = c.work
	c.emit(x)
}

// Classes tells the class of every activity.
func (m *Model) Classes() []Class { return m.class() }

// EachOwn calls visit for each stretch of own time in the window, and for each operation.
func (m *Model) EachOwn(visit func(a cdg.ActID, ns int64)) { m.eachOwn(visit) }
