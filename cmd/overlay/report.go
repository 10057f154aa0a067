package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// solveOne finds the path of the one trace that was found. Many ranks are left to job, which returns the name of the trace
// where it turns out that there is one only; else there is no run.
func (j *job) solveOne(f *found, job func() (only string, err error)) (*pipeline.Run, error) {
	if f.many() {
		only, err := job()
		if err != nil || only == "" {
			return nil, err
		}
		f.traces = []traceFile{{path: only, member: only}}
	}
	if err := j.oneRankFlags(); err != nil {
		return nil, err
	}
	var err error
	if j.opts.input, err = f.one(); err != nil {
		return nil, err
	}
	tr, err := j.load(j.opts.input)
	if err != nil {
		return nil, err
	}
	return j.solve(j.opts.input, tr, false)
}

// checkReport completes and checks the options of `report`.
func checkReport(r *flagReader, o *options) {
	r.needInput(o)
	pageHasAll(o)
}

// printReport prints the analysis of one trace, or of the traces of a job.
func (j *job) printReport() error {
	html, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	f, err := findRanks(j.opts.inputs)
	if err == nil && len(f.sets) > 0 && len(f.traces) > 0 {
		err = fmt.Errorf("%s: summaries and traces do not go together here; 'overlay run' draws the events of traces beside summaries", report.Plain(f.traces[0].path))
	}
	if err != nil {
		return err
	}
	solved, err := j.solveOne(f, func() (string, error) { return j.reportJob(f, html) })
	if solved == nil {
		return err
	}
	r := j.report(j.opts.input, solved, j.opts.top)
	switch {
	case html != nil:
		return page.WriteReport(html, r)
	case j.opts.json:
		j.result = r.WriteJSON
	default:
		j.result = func(w io.Writer) error { return r.WriteText(w, j.textOptions(j.resultTo)) }
	}
	return nil
}

// report makes the report of a run with the top hotspots.
func (j *job) report(name string, r *pipeline.Run, top int) *report.Report {
	s := report.Source{Name: inputName(name), Version: version, Top: top, Segments: j.opts.segments, Advise: j.opts.command != "diff" && !j.opts.noAdvice, Gains: j.opts.command == "report",
		Brief: !j.opts.json && j.opts.html == "" && j.opts.report == ""}
	if j.opts.anonymize {
		s.Name = "trace"
	}
	return r.Report(s)
}

// textOptions fits text to the terminal that w is, if it is one.
func (j *job) textOptions(w io.Writer) report.TextOptions {
	o := report.TextOptions{Color: j.color(w), Walk: j.opts.segments, Short: j.opts.pageOnly}
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			o.Width = max(width, 60)
		}
	}
	return o
}

// createReport prepares the file of a report; "" is none.
func (j *job) createReport(name string) (*output, error) {
	if name == "" {
		return nil, nil
	}
	return j.outs.create(name)
}

// writeReport writes a report in the form that the name of its file asks for; no file, nothing written.
func writeReport(out *output, r *report.Report) error {
	switch {
	case out == nil:
		return nil
	case filepath.Ext(out.shown) == ".html":
		return page.WriteReport(out, r)
	}
	return r.WriteJSON(out)
}

// diff compares two traces, or two jobs, analysed in the same way.
func (j *job) diff() error {
	pair, jobs, err := j.sides()
	if err != nil {
		return err
	}
	if jobs {
		if done, err := j.diffJobs(pair); done || err != nil {
			return err
		}
	}
	html, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	picture, err := j.createReport(j.opts.svg)
	if err != nil {
		return err
	}
	var sides [2]*report.Report
	var works map[whatif.Work]whatif.Done // of the first
	var window int64
	var explained whatif.Explanation
	err = pipeline.Each(len(j.files), j.pipeline(), func(i int) (*trace.Trace, error) { return j.load(j.files[i]) }, func(i int, r *pipeline.Run) error {
		sides[i] = j.report(j.files[i], r, math.MaxInt) // a hotspot of one side may be last on the other
		if i == 0 {
			works, window = r.Works()
		} else {
			explained = r.Explain(works, window)
		}
		return nil
	})
	if side := (*pipeline.Error)(nil); errors.As(err, &side) {
		return fmt.Errorf("%s: %w", j.files[side.Index], err)
	}
	if err != nil {
		return err
	}
	d := report.Compare(sides[0], sides[1])
	d.Explain(&explained)
	if limit := j.opts.failIfSlower; limit >= 0 && d.Slower > limit {
		j.verdict = fmt.Errorf("%w: %s takes %s longer than %s, more than %s", errSlower, j.files[1], tables.FormatPercent(d.Slower), j.files[0], tables.GivenPercent(limit))
	}
	if picture != nil {
		if err := page.DrawDifference(picture, d); err != nil {
			return err
		}
	}
	switch {
	case html != nil:
		return page.WriteDifference(html, d)
	case j.opts.json:
		j.result = d.WriteJSON
	case j.opts.markdown:
		j.result = func(w io.Writer) error { return page.CommentDifference(w, d, changesListed) }
	default:
		j.result = func(w io.Writer) error { return d.WriteText(w, j.textOptions(j.resultTo), changesListed) }
	}
	return nil
}

// changesListed is how many hotspots diff lists.
const changesListed = 10
