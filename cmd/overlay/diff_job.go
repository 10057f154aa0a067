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
	d := report.CompareJobs(made[0], made[1])
	if limit := j.opts.failIfSlower; limit >= 0 && d.Slower > limit {
		j.verdict = fmt.Errorf("%w: %s takes %s longer than %s, more than %s", errSlower, j.files[1], tables.FormatPercent(d.Slower), j.files[0], tables.GivenPercent(limit))
	}
	html, err := j.createReport(j.opts.html)
	if err != nil {
		return false, err
	}
	picture, err := j.createReport(j.opts.svg)
	if err != nil {
		return false, err
	}
	if picture != nil {
		if err := page.DrawJobDifference(picture, d); err != nil {
			return false, err
		}
	}
	switch {
	case html != nil:
		return true, page.WriteJobDifference(html, d)
	case j.opts.json:
		j.result = d.WriteJSON
	case j.opts.markdown:
		j.result = func(w io.Writer) error { return page.CommentJobDifference(w, d, changesListed) }
	default:
		j.result = func(w io.Writer) error { return d.WriteText(w, j.textOptions(j.resultTo), changesListed) }
	}
	return true, nil
}
