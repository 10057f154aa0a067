package main

import (
	"fmt"
	"io"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// sides finds the traces of the two sides of a difference. It reports whether they are two jobs of many ranks; nothing is found where
// both are one trace.
func (j *job) sides() (sides [2]*found, jobs bool, err error) {
	for i := range sides {
		f, err := find([]string{j.files[i]})
		if err != nil {
			return sides, false, err
		}
		sides[i] = f
	}
	many := func(f *found) bool { return len(f.traces) > 1 || f.traces[0].archive != noArchive }
	a, b := many(sides[0]), many(sides[1])
	switch {
	case a && b:
		return sides, true, nil
	case a != b && (len(sides[0].traces) > 1 || len(sides[1].traces) > 1):
		one := 0
		if a {
			one = 1
		}
		return sides, false, fmt.Errorf("%s is one trace, and %s holds %s: compare a trace with a trace, or a job with a job", report.Plain(j.files[one]), report.Plain(j.files[1-one]),
			tables.Counted(len(sides[1-one].traces), "trace"))
	}
	return sides, false, nil
}

// diffJobs compares two jobs. It reports false where one of them turns out to be a single trace.
func (j *job) diffJobs(sides [2]*found) (done bool, err error) {
	for flag, set := range map[string]bool{"html": j.opts.html != "", "svg": j.opts.svg != "", "markdown": j.opts.markdown} {
		if set {
			return false, j.usage("--%s is for two traces; two jobs are compared in text and --json", flag)
		}
	}
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
	j.result = func(w io.Writer) error { return d.WriteText(w, j.textOptions(j.resultTo), changesListed) }
	if j.opts.json {
		j.result = d.WriteJSON
	}
	return true, nil
}
