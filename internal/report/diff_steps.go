package report

import (
	"fmt"
	"strings"

	"overlay/internal/tables"
)

// StepsCompared is what a difference of two steps of one trace has besides: Before and After of the difference are the one path of the
// trace, clipped to each.
type StepsCompared struct {
	Before  StepSide `json:"before"`
	After   StepSide `json:"after"`
	Earlier Change   `json:"earlier" table:"earlier" about:"time on the path in operations that were launched before the step began"`
}

// StepSide is one of the two.
type StepSide struct {
	Name    string `json:"name" about:"step 12"`
	Why     string `json:"why,omitempty" about:"why it was chosen, where nobody named it"`
	Earlier int64  `json:"launched_before_ns" unit:"ns" about:"time on the path in operations that were launched before the step began"`
}

// CompareSteps makes the difference of two steps of many.
func CompareSteps(before, after *Report, a, b StepSide, many int) *Difference {
	if b.Why != "" {
		b.Why += " of " + tables.Counted(many, "step")
	}
	d := compareWindows(before, after)
	d.Steps = &StepsCompared{a, b, Change{"earlier", a.Earlier, b.Earlier, b.Earlier - a.Earlier}}
	return d
}

func (s *StepsCompared) sides() [2]*StepSide { return [2]*StepSide{&s.Before, &s.After} }

// Labels are what the two sides are called where there is room for a word or two.
func (d *Difference) Labels() [2]string {
	if d.Steps != nil {
		return [2]string{d.Steps.Before.Name, d.Steps.After.Name}
	}
	return [2]string{"before", "after"}
}

// Subject says what is compared with what.
func (d *Difference) Subject() string {
	before, after := Shorten(Plain(d.Before.Input.Name), 60), Shorten(Plain(d.After.Input.Name), 60)
	if d.Steps == nil {
		return before + " → " + after
	}
	return after + ": " + d.Steps.After.Name + " against " + d.Steps.Before.Name
}

// NotItsOwn says which sides have most of their path in work of earlier steps, so that their hotspots are not those of the step; "" where
// none has, or where that is the reason of the difference.
func (d *Difference) NotItsOwn() string {
	if d.Steps == nil || d.CaughtUp() != "" {
		return ""
	}
	var parts []string
	for i, s := range d.Steps.sides() {
		if length := [2]*Report{d.Before, d.After}[i].Window.Duration; s.Earlier > 0 && 2*s.Earlier >= length {
			parts = append(parts, tables.FormatShare(tables.ShareOf(s.Earlier, length))+" of "+s.Name)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + " is work that was launched before: the CPU runs ahead, and these hotspots are those of earlier steps. report --step N shows what step N launched"
}

// CaughtUp says that a step is longer because of work that was launched before it, where at least half of the difference is that; else "".
func (d *Difference) CaughtUp() string {
	if d.Steps == nil || d.Window.Effect <= 0 || 2*d.Steps.Earlier.Effect < d.Window.Effect {
		return ""
	}
	return fmt.Sprintf("%s of the %s more is work that was launched before %s: the CPU ran ahead, and the GPU caught up here",
		tables.Duration(min(d.Steps.Earlier.Effect, d.Window.Effect)), tables.Duration(d.Window.Effect), d.Steps.After.Name)
}
