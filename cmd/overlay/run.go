package main

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/overlay"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// checkRun completes and checks the options of `run`.
func checkRun(r *flagReader, o *options) {
	r.needInput(o)
	pageHasAll(o)
	if o.output == "" {
		if o.many {
			r.problem("no output: name the picture of the job with -o, as in -o job.pftrace")
			return
		}
		if o.input == "-" {
			r.problem("-i - needs -o")
			return
		}
		o.output = overlaidName(o.input)
	}
	r.readFormat(o)
	if o.gpuCompute && o.chrome {
		r.problem("--gpu-compute is of Perfetto's format: give -o FILE.pftrace")
	}
}

// overlaidName is the output of `run` when none is given.
func overlaidName(input string) string {
	name := input
	for _, suffix := range []string{".gz", ".zst", ".json", ".pftrace", ".sqlite", ".db"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name + ".overlaid.pftrace"
}

// run analyses a trace, or those of a job, and writes it with the analysis drawn in.
func (j *job) run() error {
	out, err := j.createOutput()
	if err != nil {
		return err
	}
	rep, err := j.createReport(j.opts.report)
	if err != nil {
		return err
	}
	f, err := findRanks(j.opts.inputs)
	if err != nil {
		return err
	}
	if f.many(j.opts.maxExpand) {
		only, err := j.runJob(f, out, rep)
		if err != nil || only == "" {
			return err
		}
		j.opts.input = only
	}
	if err := j.oneRankFlags(); err != nil {
		return err
	}
	if j.opts.tar {
		return j.usage("-o %s: an archive takes the ranks of a job, and this is one trace; name the output .pftrace or .json", quote(j.opts.output))
	}
	tr, err := j.load(j.opts.input)
	if err != nil {
		return err
	}
	solved, err := j.solve(j.opts.input, tr, true)
	if err != nil {
		return err
	}
	var r *report.Report
	if rep != nil || !j.opts.quiet {
		r = j.report(j.opts.input, solved, j.opts.top)
	}
	recorded := solved.Recorded
	o := overlay.Options{Flows: flowNames[j.opts.flows], Plain: j.opts.plain, GPUCompute: j.opts.gpuCompute, Version: version, Slim: j.opts.onlyCritical}
	if !j.opts.noAdvice {
		if r == nil {
			j.stages.start("advice")
		}
		o.Advice = solved.Findings()
	}
	d := solved.Draw(o)
	st, err := j.write(out, d)
	if err != nil {
		return err
	}
	if err := writeReport(rep, r); err != nil {
		return err
	}
	if !j.opts.quiet {
		j.result = func(w io.Writer) error { return j.summary(w, d.Trace, recorded, r, out, st) }
	}
	return nil
}

// summary says what bounds the run, what was written, what was mended, and what to do next.
func (j *job) summary(w io.Writer, tr *trace.Trace, recorded bool, r *report.Report, out *output, st written) error {
	if err := r.WriteText(w, j.textOptions(j.resultTo)); err != nil {
		return err
	}
	notes := st.notes
	if recorded {
		notes = append(notes, "the input is a slim trace: window, method and delays are those of the run that wrote it")
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	if err := writeLines(w, fmt.Sprintf("wrote %s, %s bytes: %s", out.shown, tables.Grouped(out.n), st.drawn), notes, repairLines(tr)); err != nil {
		return err
	}
	return writeLines(w, j.nextStep(out))
}

// muchForBrowser is from how many bytes on a viewer in a browser may run out of memory: it needs two to four times as much as
// the file has, and some browsers give a page 2 to 4 GB (Perfetto's page on large traces).
const muchForBrowser = 1 << 30

// nextStep is what to do with an output.
func (j *job) nextStep(out *output) string {
	if word, ok := shellWord(out.shown); ok && out.temp != "" {
		if out.n >= muchForBrowser {
			return "next  trace_processor --httpd " + word + " and " + viewerOrigin + ", which takes it from there; much for a browser alone (--only-critical writes less)"
		}
		return "next  overlay open " + word
	}
	return "next  open it in " + viewerOrigin
}

// flowNames are the values of --flows.
var flowNames = map[string]overlay.Flows{"critical": overlay.FlowsCritical, "all": overlay.FlowsAll, "none": overlay.FlowsNone}
