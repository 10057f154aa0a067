package critpath

import (
	"fmt"

	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Owned reports whether a segment belongs to an event; delays, hand-offs and unknown time belong to none.
func (s *Segment) Owned() bool { return s.Event != trace.NoEvent }

// Marked is the set of the events that have marks: its places are those of Marks. events is how many the trace has.
func (p *Path) Marked(events int) *EventSet {
	if p.marked != nil {
		return p.marked
	}
	on := NewEventSet(events)
	for i := range p.Marks {
		on.Add(p.Marks[i].Event)
	}
	if on.Freeze() != len(p.Marks) {
		panic("critpath: internal error: an event has two marks")
	}
	return on
}

// tally is what the marks of a path need to know of all its segments, in any order.
type tally struct {
	on      *EventSet // events that own segments
	sum     summer
	covered int64 // ns
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
	t := tally{on: NewEventSet(events)}
	for _, s := range p.Segments.All() {
		t.add(s)
	}
	p.markFrom(&t)
}

// markFrom is mark for segments that were added up already.
func (p *Path) markFrom(t *tally) {
	on, total := t.on, t.sum.done()
	p.total, p.Covered = &total, t.covered
	p.Marks = make([]Mark, on.Freeze())
	p.marked, p.kinds = on, make([]SegmentKind, len(p.Marks))
	longest := make([]int64, len(p.Marks)) // ns: of its segments
	var last *Mark
	for i, s := range p.Segments.All() {
		if !s.Owned() {
			continue
		}
		at, ns := on.Place(s.Event), s.End-s.Start
		m := &p.Marks[at]
		if m.NS == 0 {
			m.Event, m.ID = s.Event, int32(i)
		}
		m.NS += ns
		if ns > longest[at] {
			longest[at], p.kinds[at] = ns, s.Kind
		}
		if last != nil {
			last.Next = m.ID // the last time counts
		}
		last = m
	}
	if last != nil {
		last.Next = -1
	}
}

// Check verifies the invariants of the exact method: tiling, edges that go forward, marks that sum to the owned time.
func (p *Path) Check(g *graph.Graph) error {
	t := p.Window.Start
	owned := int64(0)
	for i, s := range p.Segments.All() {
		if s.Start != t || s.End <= s.Start {
			return fmt.Errorf("segment %d: [%d, %d] after %d", i, s.Start, s.End, t)
		}
		t = s.End
		if s.Owned() {
			owned += s.End - s.Start
			if e := &g.Trace.Events[s.Event]; s.Start < e.Start || s.End > g.Trace.End(e) {
				return fmt.Errorf("segment %d: [%d, %d] outside its event %d [%d, %d]", i, s.Start, s.End, s.Event, e.Start, g.Trace.End(e))
			}
		}
	}
	if t != p.Window.End {
		return fmt.Errorf("segments end at %d, the window at %d", t, p.Window.End)
	}
	marked := int64(0)
	for i := range p.Marks {
		m := &p.Marks[i]
		if i > 0 && p.Marks[i-1].Event >= m.Event {
			return fmt.Errorf("mark %d: out of order", i)
		}
		if m.NS <= 0 || m.NS > g.Trace.Dur(&g.Trace.Events[m.Event]) {
			return fmt.Errorf("mark %d: event %d of %d ns has %d ns on the path", i, m.Event, g.Trace.Dur(&g.Trace.Events[m.Event]), m.NS)
		}
		marked += m.NS
	}
	if marked != owned || owned != p.Covered {
		return fmt.Errorf("marks sum to %d ns, owned segments to %d, covered is %d", marked, owned, p.Covered)
	}
	for i, e := range p.Edges.All() {
		if err := p.checkEdge(g, e); err != nil {
			return fmt.Errorf("edge %d: %w", i, err)
		}
	}
	return nil
}

func (p *Path) checkEdge(g *graph.Graph, e *Edge) error {
	if e.Weight < 0 {
		return fmt.Errorf("weight %d", e.Weight)
	}
	from, to := &g.Trace.Events[e.From], &g.Trace.Events[e.To]
	if from.Start > g.Trace.End(to) {
		return fmt.Errorf("%s goes back: event %d [%d, %d] to %d [%d, %d]", e.Type, e.From, from.Start, g.Trace.End(from), e.To, to.Start, g.Trace.End(to))
	}
	return nil
}
