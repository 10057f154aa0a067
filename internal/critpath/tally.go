package critpath

import (
	"overlay/internal/par"
)

// tally is what the marks of a path need to know of a part of its segments, in any order.
type tally struct {
	on      *EventSet // events that own segments
	sum     summer
	covered int64 // ns
	blocks  int   // of the tape of segments
}

func (t *tally) add(s *Segment) {
	t.sum.add(s)
	if s.Owned() {
		t.on.Add(s.Event)
		t.covered += s.End - s.Start
	}
}

// mark sums the segments, as a whole and per event, and sets Covered. events is how many the trace has.
func (p *Path) mark(events int) {
	t := tally{on: NewEventSet(events), blocks: len(p.Segments.blocks)}
	for _, s := range p.Segments.All() {
		t.add(s)
	}
	p.markFrom([]tally{t})
}

// markFrom is mark for segments that were added up already: parts of the tape that follow one another, as they lie there.
func (p *Path) markFrom(parts []tally) {
	var total summer
	p.Covered = 0
	m := newMarker(parts)
	block := 0
	for i := range parts {
		t := &parts[i]
		total.join(&t.sum)
		p.Covered += t.covered
		m.parts[i] = markedPart{last: block, first: block + t.blocks - 1, enters: -1, leaves: -1}
		block += t.blocks
	}
	t := total.done()
	p.total = &t
	par.Each(len(parts), func(i int) { m.fill(&p.Segments, i) })
	m.join()
	p.Marks, p.kinds = m.Marks, m.kinds
}

// marker fills the marks from parts of the segments side by side. An event that owns segments in several parts has a place for each
// of them, behind those of all marks: so no two parts write to one place, and these are added up in the end.
type marker struct {
	Marks   // of places: until join, next is a place, too
	kinds   []SegmentKind
	longest Marks     // the times alone: of its segments
	shared  *EventSet // events of several parts
	several int       // so many
	n       int       // marks
	parts   []markedPart
}

// markedPart is a part of the tape: where the path enters its first event, and leaves its last one. Places are -1 without any.
type markedPart struct {
	first, last    int             // blocks; what was found last lies in the first of them
	enters, leaves int             // places
	long, longest  map[int32]int64 // times that have no room in 32 bits, of the marks and of the longest segments
}

func newMarker(parts []tally) *marker {
	m := &marker{shared: NewEventSet(0), parts: make([]markedPart, len(parts))}
	on := parts[0].on
	if len(parts) > 1 {
		m.shared = NewEventSet(64 * len(on.member))
		for i := range parts[1:] {
			for k, w := range parts[1+i].on.member {
				m.shared.member[k] |= on.member[k] & w
				on.member[k] |= w
			}
		}
	}
	m.n, m.several = on.Freeze(), m.shared.Freeze()
	places := m.n + len(parts)*m.several
	m.Marks = newMarks(on, places)
	m.kinds, m.longest = make([]SegmentKind, places), Marks{ns: make([]uint32, places)}
	return m
}

// fill adds up one part.
func (m *marker) fill(segs *Segments, part int) {
	x := &m.parts[part]
	ms, longest := m.Marks, m.longest // with tables of their own for long times
	for i, s := range newWindow(&segs.tape, readSegments).forward(x.first, x.last) {
		if !s.Owned() {
			continue
		}
		k, ns := 0, s.End-s.Start
		if m.several > 0 && m.shared.Has(s.Event) {
			k = m.n + part*m.several + m.shared.Place(s.Event)
		} else {
			k = m.on.Place(s.Event)
		}
		sum := ms.time(k)
		if sum == 0 {
			ms.id[k] = int32(i)
		}
		ms.set(k, sum+ns)
		if ns > longest.time(k) {
			longest.set(k, ns)
			m.kinds[k] = s.Kind
		}
		if x.leaves >= 0 {
			ms.next[x.leaves] = int32(k) // the last time counts
		} else {
			x.enters = k
		}
		x.leaves = k
	}
	x.long, x.longest = ms.long, longest.long
}

// join adds up the places of events that have several.
func (m *marker) join() {
	leaves := -1
	for i := len(m.parts) - 1; i >= 0; i-- { // in order of time
		x := &m.parts[i]
		for k, ns := range x.long {
			m.set(int(k), ns)
		}
		for k, ns := range x.longest {
			m.longest.set(int(k), ns)
		}
		if x.enters < 0 {
			continue
		}
		if leaves >= 0 {
			m.next[leaves] = int32(x.enters)
		}
		leaves = x.leaves
	}
	if leaves >= 0 {
		m.next[leaves] = -1
	}
	at := 0
	for e := range m.shared.all() {
		m.joinPlaces(m.on.Place(e), at)
		at++
	}
	for k := range m.long {
		if int(k) >= m.n {
			delete(m.long, k)
		}
	}
	id := m.id
	m.ns, m.id, m.next, m.kinds = m.ns[:m.n], m.id[:m.n], m.next[:m.n], m.kinds[:m.n]
	par.EachRange(m.n, par.Ranges(m.n, 1<<14), func(_, from, to int) {
		for i := from; i < to; i++ {
			if k := m.next[i]; k >= 0 {
				m.next[i] = id[k]
			}
		}
	})
}

// joinPlaces adds up the places of one event, the at-th of those that have several.
func (m *marker) joinPlaces(to, at int) {
	first := true
	for i := len(m.parts) - 1; i >= 0; i-- {
		k := m.n + i*m.several + at
		ns := m.time(k)
		if ns == 0 {
			continue
		}
		if first {
			m.id[to], first = m.id[k], false
		}
		m.set(to, m.time(to)+ns)
		if ns := m.longest.time(k); ns > m.longest.time(to) {
			m.longest.set(to, ns)
			m.kinds[to] = m.kinds[k]
		}
		m.next[to], m.id[k] = m.next[k], m.id[to]
	}
}
