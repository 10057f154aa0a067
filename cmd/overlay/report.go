package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// printReport prints the analysis of one trace.
func (j *job) printReport() error {
	page, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	a, err := j.analyse(j.opts.input)
	if err != nil {
		return err
	}
	r := j.report(j.opts.input, a, j.opts.top)
	switch {
	case page != nil:
		return r.WriteHTML(page)
	case j.opts.json:
		j.result = r.WriteJSON
	default:
		j.result = func(w io.Writer) error { return r.WriteText(w, j.textOptions(j.resultTo)) }
	}
	return nil
}

// report makes the report of an analysis with the top hotspots.
func (j *job) report(name string, a analysis, top int) *report.Report {
	j.stages.start("reporting")
	s := report.Source{Name: inputName(name), Version: version, Graph: a.graph, Path: a.path, Top: top, Segments: j.opts.segments}
	if j.opts.anonymize {
		s.Name = "trace"
	}
	if s.Analyses = a.analyses; s.Analyses == nil {
		s.Analyses = j.runAnalyses(a)
	}
	return report.New(s)
}

// textOptions fits text to the terminal that w is, if it is one.
func (j *job) textOptions(w io.Writer) report.TextOptions {
	o := report.TextOptions{Color: j.color(w), Walk: j.opts.segments}
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
		return r.WriteHTML(out)
	}
	return r.WriteJSON(out)
}

// diff compares two traces, analysed in the same way.
func (j *job) diff() error {
	page, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	var sides [2]*report.Report
	for i, name := range j.files {
		a, err := j.analyse(name)
		if err != nil {
			return err
		}
		sides[i] = j.report(name, a, math.MaxInt) // a hotspot of one side may be last on the other
	}
	d := report.Compare(sides[0], sides[1])
	if limit := j.opts.failIfSlower; limit >= 0 && d.Slower > limit {
		j.verdict = fmt.Errorf("%w: %s takes %s longer than %s, more than %s", errSlower, j.files[1], tables.FormatPercent(d.Slower), j.files[0], tables.GivenPercent(limit))
	}
	switch {
	case page != nil:
		return d.WriteHTML(page)
	case j.opts.json:
		j.result = d.WriteJSON
	default:
		j.result = func(w io.Writer) error { return d.WriteText(w, j.textOptions(j.resultTo), changesListed) }
	}
	return nil
}

// changesListed is how many hotspots diff lists.
const changesListed = 10
