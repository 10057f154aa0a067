package critpath

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// Breakdown sums the segments by class, kind, evidence and resource.
func Breakdown(p *Path) Totals {
	if p.total != nil {
		return *p.total
	}
	var s summer
	for _, seg := range p.Segments.All() {
		s.add(seg)
	}
	return s.done()
}

// summer adds up segments.
type summer struct {
	t  Totals
	ns []int64 // per track, from NoTrack on; nowhere where the path never is
}

const nowhere = -1

func (x *summer) add(s *Segment) {
	d := s.End - s.Start
	x.t.Kind[s.Kind] += d
	x.t.Evidence[s.Evidence] += d
	at := int(s.Track - trace.NoTrack)
	for at >= len(x.ns) {
		x.ns = append(x.ns, nowhere)
	}
	x.ns[at] = max(x.ns[at], 0) + d
}

func (x *summer) done() Totals {
	t := x.t
	for k, d := range t.Kind {
		t.Class[SegmentKind(k).Class()] += d
	}
	for at, d := range x.ns {
		if d != nowhere {
			t.Resource = append(t.Resource, ByResource{trace.TrackID(at) + trace.NoTrack, d})
		}
	}
	slices.SortFunc(t.Resource, func(a, b ByResource) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Track, b.Track))
	})
	return t
}

// BoundBy is the class with the most time; at equal times the first of the table.
func BoundBy(byClass *[NumClasses]int64) Class {
	best := Class(0)
	for c := range byClass {
		if byClass[c] > byClass[best] {
			best = Class(c)
		}
	}
	return best
}

// StepLine is the path of the window clipped to one step.
type StepLine struct {
	Name       string // of the step; "before" and "after" for what lies outside all steps
	Step       int    // index into the steps, -1 for before and after
	Start, End int64  // ns
	Class      [NumClasses]int64
}

// StepTable clips the one path to the steps of the window. The lines tile the window; without steps there are none.
func StepTable(steps []cdg.Step, p *Path) []StepLine {
	t := newStepper(steps, p.Window)
	if t.lines == nil {
		return nil
	}
	for _, s := range p.Segments.All() {
		t.add(s)
	}
	return t.lines
}

// stepper takes segments in order of time and shares them out among lines.
type stepper struct {
	lines []StepLine // nil without steps
	at    int        // the first that does not end before the segment that was added last
}

func newStepper(steps []cdg.Step, w cdg.Window) stepper {
	var lines []StepLine
	t, end := w.Start, w.End
	for i := range steps {
		s := &steps[i]
		from, to := max(s.Start, t), min(s.End, end)
		if from >= to {
			continue
		}
		if from > t {
			lines = append(lines, StepLine{Name: "before", Step: -1, Start: t, End: from})
		}
		lines = append(lines, StepLine{Name: s.Name, Step: i, Start: from, End: to})
		t = to
	}
	if lines != nil && t < end {
		lines = append(lines, StepLine{Name: "after", Step: -1, Start: t, End: end})
	}
	return stepper{lines, 0}
}

func (t *stepper) add(s *Segment) {
	for t.at < len(t.lines) && t.lines[t.at].End <= s.Start {
		t.at++
	}
	for j := t.at; j < len(t.lines) && t.lines[j].Start < s.End; j++ {
		t.lines[j].Class[s.Kind.Class()] += max(0, min(s.End, t.lines[j].End)-max(s.Start, t.lines[j].Start))
	}
}
