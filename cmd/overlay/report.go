package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
)

// solveOne finds the path of the one trace that was found. Many ranks are left to job, which returns the name of the trace
// where it turns out that there is one only; else there is no run.
func (j *job) solveOne(f *found, job func() (only string, err error)) (*pipeline.Run, error) {
	if f.many(j.opts.maxExpand) {
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
