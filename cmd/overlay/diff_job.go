package main

import (
	"fmt"
	"io"

	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
)

// sides finds the traces of the two sides of a difference. It reports whether they are two jobs of many ranks; nothing is found where
// both are one trace.
func (j *job) sides() (sides [2]*found, jobs bool, err error) {
	for i := range sides {
		f, err := findRanks([]string{j.files[i]})
		if err != nil {
			return sides, false, err
		}
		sides[i] = f
	}
	a, b := sides[0].many(j.opts.maxExpand), sides[1].many(j.opts.maxExpand)
	switch {
	case a && b:
		return sides, true, nil
	case a != b && (len(sides[0].traces)+len(sides[0].sets) > 1 || len(sides[1].traces)+len(sides[1].sets) > 1):
		one := 0
		if a {
			one = 1
		}
		return sides, false, fmt.Errorf("%s is one trace, and %s holds %s: compare a trace with a trace, or a job with a job", report.Plain(j.files[one]), report.Plain(j.files[1-one]),
			tables.Counted(len(sides[1-one].traces)+len(sides[1-one].sets), "trace"))
	}
	return sides, false, nil
}

// diffJobs compares two jobs. It reports false where one of them turns out to be a single trace.
func (j *job) diffJobs(sides [2]*found) (done bool, err error) {
	var made [2]*report.JobReport
	for i, f := range sides {
		r, _, err := j.joinRanks(f)
		if err != nil {
			return false, err
		}
		if r == nil {
			return false, nil
		}
		made[i] = report.NewJob(r.source)
	}
	return true, j.showDifference(ofJobs(report.CompareJobs(made[0], made[1]), j.files[0], j.files[1]))
}

// diffJobSteps compares two steps of one job. It returns the name of the trace where there is one rank only.
func (j *job) diffJobSteps(f *found) (only string, err error) {
	of, against := j.opts.step, j.opts.against
	if of < 0 || against < 0 {
		j.opts.step = -1
		r, only, err := j.joinRanks(f)
		if r == nil {
			j.opts.step = of
			return only, err
		}
		if of, against, err = report.NewJob(r.source).ChooseSteps(of, against); err != nil {
			return "", fmt.Errorf("%s: %w", f.shown, err)
		}
	}
	var made [2]*report.JobReport
	for i, step := range []int{against, of} {
		j.opts.step = step
		r, only, err := j.joinRanks(f)
		if r == nil {
			j.opts.step = of
			return only, err
		}
		made[i] = report.NewJob(r.source)
	}
	d := report.CompareJobSteps(made[0], made[1])
	names := d.Labels()
	return "", j.showDifference(ofJobs(d, names[0], names[1]))
}

func ofJobs(d *report.JobDifference, before, after string) *difference {
	return &difference{slower: d.Slower, before: before, after: after, json: d.WriteJSON, text: d.WriteText,
		page:     func(w io.Writer) error { return page.WriteJobDifference(w, d) },
		picture:  func(w io.Writer) error { return page.DrawJobDifference(w, d) },
		markdown: func(w io.Writer, n int) error { return page.CommentJobDifference(w, d, n) }}
}
