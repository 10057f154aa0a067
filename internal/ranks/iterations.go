package ranks

import (
	"cmp"
	"slices"
)

// placed reports whether the iterations of a rank have no numbers of their own: a summary has -1 less their place in the trace.
func (s *Summary) placed() bool { return len(s.Steps) > 0 && s.Steps[0].Number < 0 }

// iterationAt is the index of the step in which a moment lies, -1 for none.
func (s *Summary) iterationAt(t int64) int32 {
	i, found := slices.BinarySearchFunc(s.Steps, t, func(s Step, t int64) int { return cmp.Compare(s.Start, t) })
	if !found {
		i--
	}
	if i < 0 || t >= s.Steps[i].End {
		return -1
	}
	return int32(i)
}

// places takes the places of iterations that no server numbers for their numbers. All ranks must have as many, of the same types in the same order, and
// launch the same collectives in them, but for records that got lost; else ranks that began to record at different ones would be compared, and such
// ranks have no steps. Collectives are matched before, without steps.
func (j *Matched) places() {
	if !slices.ContainsFunc(j.Members, func(m Member) bool { return m.placed() }) {
		return
	}
	alike, met, apart, of := true, 0, 0, make([]int32, len(j.Instances))
	for m := range j.Members {
		alike = alike && slices.EqualFunc(j.Members[m].Steps, j.Members[0].Steps, func(a, b Step) bool { return a.Number == b.Number && a.Type == b.Type })
	}
	for i := 0; alike && i < len(j.Instances); i++ {
		refs := j.refs(i)
		at := func(r Ref) int32 { return j.Members[r.Member].iterationAt(j.Members[r.Member].Ops[r.Op].Launch) }
		of[i] = at(refs[0])
		if len(refs) > 1 {
			if met++; slices.ContainsFunc(refs, func(r Ref) bool { return at(r) != of[i] }) {
				apart++
			}
		}
	}
	alike = alike && met > 0 && apart*cutShare <= met
	for i := range j.Instances {
		if alike && of[i] >= 0 {
			j.Instances[i].Step = -1 - j.Members[0].Steps[of[i]].Number
		}
	}
	for m := range j.Members {
		x := &j.Members[m]
		if !x.placed() {
			continue
		}
		s := *x.Summary
		if x.Summary = &s; !alike {
			s.Steps, s.Spent, s.Given = nil, nil, nil
			continue
		}
		s.Ops, s.Steps = slices.Clone(s.Ops), slices.Clone(s.Steps)
		for i := range s.Steps {
			s.Steps[i].Number = -1 - s.Steps[i].Number
		}
		for i := range s.Ops {
			if at := s.iterationAt(s.Ops[i].Launch); at >= 0 {
				s.Ops[i].Step = s.Steps[at].Number
			}
		}
	}
}
