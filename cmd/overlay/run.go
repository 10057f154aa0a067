package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"

	"overlay/internal/kineto"
	"overlay/internal/overlay"
	"overlay/internal/report"
)

// checkRun completes and checks the options of `run`.
func checkRun(r *flagReader, o *options) {
	r.needInput(o)
	if o.output == "" {
		if o.input == "-" {
			r.problem("-i - needs -o")
			return
		}
		o.output = overlaidName(o.input)
	}
	r.readFormat(o)
}

// overlaidName is the output of `run` when none is given.
func overlaidName(input string) string {
	name := input
	for _, suffix := range []string{".gz", ".zst", ".json"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name + ".overlaid.pftrace"
}

// run analyses a trace and writes it with the analysis drawn in.
func (j *job) run() error {
	out, err := j.createOutput()
	if err != nil {
		return err
	}
	rep, err := j.createReport(j.opts.report)
	if err != nil {
		return err
	}
	tr, err := j.load(j.opts.input)
	if err != nil {
		return err
	}
	scan := overlay.StartScan(tr) // beside the analysis
	a, err := j.analyseTrace(j.opts.input, tr)
	if err != nil {
		return err
	}
	drawn := a
	if j.opts.anonymize {
		drawn.graph, drawn.path = overlay.Anonymize(a.graph, a.path)
		drawn.trace = drawn.graph.Trace
	}
	o := overlay.Options{Flows: flowNames[j.opts.flows], Plain: j.opts.plain, Version: version, Scan: scan}
	if drawn.analyses = j.runAnalyses(drawn); drawn.analyses != nil {
		o.Rows = drawn.analyses.Rows
	}
	j.stages.start("drawing")
	var r *report.Report
	if rep != nil || !j.opts.quiet {
		r = j.report(j.opts.input, drawn, j.opts.top)
	}
	slim, layout := a.slim, drawn.graph.Layout
	drawn.graph = nil
	if !j.opts.onlyCritical {
		a = analysis{}
	}
	runtime.GC() // a millisecond; drawing needs room, and of the graph only the layout
	ov := overlay.Annotate(layout, drawn.path, o)
	if j.opts.onlyCritical {
		overlay.Slim(a.graph, a.path, ov)
	}
	tr, layout = drawn.trace, nil
	a, drawn = analysis{}, analysis{} // the graph is as large as the trace, and writing does not need it
	runtime.GC()
	st, err := j.write(out, tr, ov)
	if err != nil {
		return err
	}
	if err := writeReport(rep, r); err != nil {
		return err
	}
	if !j.opts.quiet {
		j.result = func(w io.Writer) error { return j.summary(w, tr, slim, r, out, st) }
	}
	return nil
}

// summary says what bounds the run, what was written, what was mended, and what to do next.
func (j *job) summary(w io.Writer, tr *kineto.Trace, slim bool, r *report.Report, out *output, st written) error {
	if err := r.WriteText(w, j.textOptions(j.resultTo)); err != nil {
		return err
	}
	notes := st.notes
	if slim {
		notes = append(notes, "the input is a slim trace: window, method and delays are those of the run that wrote it")
	}
	next := "next  overlay open " + out.shown
	if out.temp == "" {
		next = "next  open it in " + viewerOrigin
	}
	if err := writeLines(w, fmt.Sprintf("\nwrote %s, %s bytes: %s", out.shown, group(out.n), st.drawn), notes, repairLines(tr)); err != nil {
		return err
	}
	return writeLines(w, next)
}

// flowNames are the values of --flows.
var flowNames = map[string]overlay.Flows{"critical": overlay.FlowsCritical, "all": overlay.FlowsAll, "none": overlay.FlowsNone}
