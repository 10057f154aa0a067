package main

import (
	"io"

	"overlay/internal/advise"
	"overlay/internal/advise/jobadvice"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// adviseJob prints what would make a job of many ranks shorter: what the ranks wait for, and what is wrong on the one that they wait
// for most. It returns the name of the trace where it turns out that there is one rank only.
func (j *job) adviseJob(f *found) (only string, err error) {
	r, only, err := j.joinRanks(f)
	if r == nil {
		return only, err
	}
	if len(f.sets) > 0 && len(f.traces) > 0 {
		if err := j.tracesBeside(f, r); err != nil {
			return "", err
		}
	}
	a := report.NewJobAdvice(r.source, jobadvice.New(r.job, r.verdict))
	if err := j.adviseRank(f, r, a); err != nil {
		return "", err
	}
	all := a.Advice.Findings
	if a.Rank.Own != nil && a.Rank.Own.Advice != nil {
		all = append(all[:len(all):len(all)], a.Rank.Own.Advice.Findings...)
	}
	j.failOn(all)
	j.result = func(w io.Writer) error { return a.WriteText(w, j.textOptions(j.resultTo)) }
	if j.opts.json {
		j.result = a.WriteJSON
	}
	return "", nil
}

// adviseRank reads the trace of the rank to look into once more, where it is here, and finds what is wrong on it.
func (j *job) adviseRank(f *found, r *rankedJob, a *report.JobAdvice) error {
	member := a.Advice.Worst().Member
	name := r.sourceOf(member)
	return j.again(f, map[string]int32{name: member}, func(_ int32, tr *trace.Trace) error {
		solved, err := j.solve(name, tr, false)
		if err != nil {
			return err
		}
		a.Rank.Own, err = solved.Advise(report.Source{Name: a.Rank.Source, Version: version}).Detached()
		return err
	})
}

// adviceIDs are the names of all rules, of one trace and of a job.
func adviceIDs() []string { return append(advise.IDs(), jobadvice.IDs()...) }
