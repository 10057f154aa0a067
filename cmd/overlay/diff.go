package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"overlay/internal/pipeline"
	"overlay/internal/report"
	"overlay/internal/report/page"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/whatif"
)

// checkDiff checks that there are two traces, or one of which two steps are compared.
func checkDiff(r *flagReader, o *options) {
	switch got := r.NArg(); {
	case got == 0:
		r.problem("no file given: two traces, or one whose steps are to be compared")
	case got > 2:
		r.problem("argument %s is too many", quote(r.Args().Get(2)))
	case got == 2 && o.against >= 0:
		r.problem("--against compares within one trace: leave out the second one")
	case got == 1 && o.method != "exact":
		r.problem("steps of one trace are compared on its exact path: leave out --method %s", o.method)
	case got == 1 && o.step >= 0 && o.step == o.against:
		r.problem("step %d cannot be compared with itself", o.step)
	case got == 1 && strings.Contains(o.instance, ":"):
		r.problem("--instance %s: one instance is compared with one", o.instance)
	}
}

// diff compares two traces, or two jobs, analysed in the same way.
func (j *job) diff() error {
	if len(j.files) == 1 {
		return j.diffSteps()
	}
	pair, jobs, err := j.sides()
	if err != nil {
		return err
	}
	if jobs {
		if done, err := j.diffJobs(pair); done || err != nil {
			return err
		}
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
	return j.showDifference(ofTraces(d, j.files[0], j.files[1]))
}

// diffSteps compares two steps of one trace.
func (j *job) diffSteps() error {
	f, err := findRanks(j.files)
	if err != nil {
		return err
	}
	if f.many(j.opts.maxExpand) {
		only, err := j.diffJobSteps(f)
		if err != nil || only == "" {
			return err
		}
		f.traces = []traceFile{{path: only, member: only}}
	}
	if j.files[0], err = f.one(); err != nil {
		return err
	}
	tr, err := j.load(j.files[0])
	if err != nil {
		return err
	}
	c := pipeline.StepChoice{Annotation: j.opts.annotation, Of: j.opts.step, Against: j.opts.against}
	if j.opts.instance != "" {
		c.Of, _ = strconv.Atoi(j.opts.instance) // checkDiff has checked it
	}
	o := j.pipeline()
	o.Link.Step, o.Link.Annotation, o.Link.Instance = "", "", ""
	r, err := pipeline.Solve(tr, o, false)
	if err != nil {
		return fmt.Errorf("%s: %w", inputName(j.files[0]), err)
	}
	d, err := r.CompareSteps(report.Source{Name: inputName(j.files[0]), Version: version, Top: math.MaxInt}, c)
	if err != nil {
		return fmt.Errorf("%s: %w", inputName(j.files[0]), err)
	}
	return j.showDifference(ofTraces(d, d.Steps.Before.Name, d.Steps.After.Name))
}

// difference is one of two traces or of two jobs, as it can be printed and drawn.
type difference struct {
	slower              float64 // percent
	before, after       string  // what the verdict calls its sides
	page, picture, json func(w io.Writer) error
	markdown            func(w io.Writer, changes int) error
	text                func(w io.Writer, o report.TextOptions, changes int) error
}

func ofTraces(d *report.Difference, before, after string) *difference {
	return &difference{slower: d.Slower, before: before, after: after, json: d.WriteJSON, text: d.WriteText,
		page:     func(w io.Writer) error { return page.WriteDifference(w, d) },
		picture:  func(w io.Writer) error { return page.DrawDifference(w, d) },
		markdown: func(w io.Writer, n int) error { return page.CommentDifference(w, d, n) }}
}

// showDifference prints a difference, or writes it where the flags say.
func (j *job) showDifference(d *difference) error {
	if limit := j.opts.failIfSlower; limit >= 0 && d.slower > limit {
		j.verdict = fmt.Errorf("%w: %s takes %s longer than %s, more than %s", errSlower, d.after, tables.FormatPercent(d.slower), d.before, tables.GivenPercent(limit))
	}
	html, err := j.createReport(j.opts.html)
	if err != nil {
		return err
	}
	picture, err := j.createReport(j.opts.svg)
	if err != nil {
		return err
	}
	if picture != nil {
		if err := d.picture(picture); err != nil {
			return err
		}
	}
	switch {
	case html != nil:
		return d.page(html)
	case j.opts.json:
		j.result = d.json
	case j.opts.markdown:
		j.result = func(w io.Writer) error { return d.markdown(w, changesListed) }
	default:
		j.result = func(w io.Writer) error { return d.text(w, j.textOptions(j.resultTo), changesListed) }
	}
	return nil
}

// changesListed is how many hotspots diff lists.
const changesListed = 10
