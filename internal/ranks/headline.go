package ranks

import (
	"fmt"
	"strings"

	"overlay/internal/tables"
)

// Headline says in a line who the job waits for most, why, from when on, and what it costs in each step; empty where nobody is slow.
func (j *Job) Headline(v *Verdict) string {
	if len(v.Stragglers) == 0 {
		return ""
	}
	s := &v.Stragglers[0]
	line := j.Who(s) + ": " + s.Words() + s.When()
	if gain := j.GainWords(v, 0); gain != "" {
		line += "; " + gain
	}
	return line
}

// GainWords say what the job gains in each step without one of the stragglers: alone, with another one, or once all others are mended.
func (j *Job) GainWords(v *Verdict, straggler int) string {
	s := &v.Stragglers[straggler]
	switch n := len(v.Stragglers); {
	case s.Worth() <= 0:
		return "without it alone the job gains nothing"
	case s.Bound:
		return "without it at most " + s.aStepLess(s.Gain)
	case s.With >= 0:
		return "alone it gains little; without it and " + j.Who(&v.Stragglers[s.With]) + " " + s.aStepLess(s.Both)
	case n == 1 || 2*s.Gain >= s.Stays:
		return "without it " + s.aStepLess(s.Gain)
	default:
		return fmt.Sprintf("once the %d others are mended too, without it ", n-1) + s.aStepLess(s.Stays)
	}
}

func (s *Straggler) aStepLess(ns int64) string {
	each, share := s.PerStep(ns)
	return tables.Duration(each) + " a step less (" + tables.SignedPercent(-100*share) + ")"
}

// Note says of a straggler that nobody waits for it.
func (j *Job) Note(s *Straggler) string {
	return j.Who(s) + ": " + s.Words() + s.When() + "; nobody waits for it"
}

// Who names a straggler: a rank with its host and its device.
func (j *Job) Who(s *Straggler) string {
	switch m := &j.Members[s.Members[0]]; {
	case s.Unit == "rank" && len(s.Members) == 1:
		return "rank " + itoa(int(m.Rank)) + m.Where()
	case s.Unit == "rank":
		return itoa(len(s.Members)) + " ranks by turns"
	case strings.HasPrefix(s.Name, s.Unit):
		return s.Name
	}
	return s.Unit + " " + s.Name
}

// Words are the cause of a straggler, with the factor or the name that says most about it.
func (s *Straggler) Words() string {
	name := ""
	if len(s.Names) > 0 {
		name = s.Names[0].Name
	}
	if s.plain && (s.Cause.What == SlowGPU || s.Cause.What == MoreWork) {
		words := "slow ×" + tables.Fixed(s.Cause.Factor, 2)
		if name != "" {
			words += ", most in " + name
		}
		return words
	}
	return s.Reason().With(s.Cause.Factor, s.Cause.Load.Times, name)
}

// When says from which step on a straggler is slow, and until which, or in which steps alone; empty where it is in all that were compared.
func (s *Straggler) When() string {
	switch {
	case s.Kind == OneOff && len(s.Steps) > 1:
		return fmt.Sprintf(" in %d steps, first in step %d", len(s.Steps), s.Steps[0])
	case s.Kind == OneOff:
		return fmt.Sprintf(" in step %d", s.Steps[0])
	case s.From >= 0 && s.Until >= 0:
		return fmt.Sprintf(" from step %d to %d", s.From, s.Until)
	case s.From >= 0:
		return fmt.Sprintf(" from step %d on", s.From)
	case s.Until >= 0:
		return fmt.Sprintf(" until step %d", s.Until)
	}
	return ""
}
