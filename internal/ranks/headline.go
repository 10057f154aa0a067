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
	switch each, share := s.PerStep(s.Worth()); {
	case each <= 0:
		return line
	case len(v.Stragglers) == 1 || 2*s.Gain >= s.Stays:
		return line + "; without it" + aStepLess(s.PerStep(s.Gain))
	case len(v.Stragglers) == 2:
		return line + "; once " + j.Who(&v.Stragglers[1]) + " is mended too, without it" + aStepLess(each, share)
	default:
		return line + fmt.Sprintf("; once the %d others are mended too, without it", len(v.Stragglers)-1) + aStepLess(each, share)
	}
}

func aStepLess(each int64, share float64) string {
	return " " + tables.Duration(each) + " a step less (" + tables.SignedPercent(-100*share) + ")"
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

// When says from which step on a straggler is slow, and until which; empty where it is in all that were compared.
func (s *Straggler) When() string {
	switch {
	case s.From >= 0 && s.Until >= 0:
		return fmt.Sprintf(" from step %d to %d", s.From, s.Until)
	case s.From >= 0:
		return fmt.Sprintf(" from step %d on", s.From)
	case s.Until >= 0:
		return fmt.Sprintf(" until step %d", s.Until)
	}
	return ""
}
