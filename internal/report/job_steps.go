package report

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/tables"
)

// ChooseSteps is which two steps of a job are compared: of and against where they are not negative, else the longest, and of the others the
// one in the middle by length. Steps that not every rank has as a whole are chosen by their number only.
func (r *JobReport) ChooseSteps(of, against int) (int, int, error) {
	var whole []JobStep
	for i := range r.Job.Steps {
		if s := r.Job.Steps[i]; s.Whole {
			whole = append(whole, s)
		}
	}
	slices.SortStableFunc(whole, func(a, b JobStep) int { return cmp.Compare(a.Duration, b.Duration) })
	without := func(n int) []JobStep {
		return slices.DeleteFunc(slices.Clone(whole), func(s JobStep) bool { return int(s.Number) == n })
	}
	if of < 0 {
		list := without(against)
		if len(list) == 0 {
			return 0, 0, fmt.Errorf("no step of the job is whole on every rank: say which to compare with --step N and --against N")
		}
		of = int(list[len(list)-1].Number)
	}
	if against < 0 {
		list := without(of)
		if len(list) == 0 {
			return 0, 0, fmt.Errorf("the job has no other step that is whole on every rank: say which to compare with --against N")
		}
		against = int(list[(len(list)-1)/2].Number)
	}
	return of, against, nil
}

// CompareJobSteps makes the difference of two steps of one job, from reports whose windows they are.
func CompareJobSteps(before, after *JobReport) *JobDifference {
	d := CompareJobs(before, after)
	d.Steps, d.Stragglers, d.Links = []Change{}, []StragglerChange{}, []StragglerChange{} // those of the job, the same in both
	charged := func(r *JobReport) map[string]int64 {
		m := map[string]int64{}
		for i := range r.Job.Waits.Charged {
			c := &r.Job.Waits.Charged[i]
			m["rank "+tables.Plain(int64(c.Rank))+": "+cmp.Or(Readable(c.Name), ClassWords(c.Class))] += c.NS
		}
		return m
	}
	d.Charged = changes(charged(before), charged(after))
	d.steps = &[2]int{*before.Job.Window.Step, *after.Job.Window.Step}
	return d
}

// Subject says what is compared with what.
func (d *JobDifference) Subject() string {
	before, after := Shorten(Plain(d.Before.Name), 60), Shorten(Plain(d.After.Name), 60)
	if d.steps != nil {
		return after + ": " + d.Labels()[1] + " against " + d.Labels()[0]
	}
	return before + " → " + after
}

// Labels are what the two sides are called where there is room for a word or two.
func (d *JobDifference) Labels() [2]string {
	if d.steps != nil {
		return [2]string{"step " + tables.Plain(int64(d.steps[0])), "step " + tables.Plain(int64(d.steps[1]))}
	}
	return [2]string{"before", "after"}
}
