package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/pipeline"
	"overlay/internal/trace"
)

// methods are the values of --method.
var methods = []string{"exact", "ctda", "hta"}

// pipeline is what the flags say of how a trace is analysed.
func (j *job) pipeline() pipeline.Options {
	o := pipeline.Options{
		Link:     cdg.Options{Annotation: j.opts.annotation, Instance: j.opts.instance, Threads: j.opts.threads},
		Methods:  map[string]critpath.Method{"exact": critpath.Exact, "ctda": critpath.CTDA, "hta": hta.Method(j.htaOptions())},
		Analyses: j.opts.analyses, Unasked: j.opts.pageOnly, Analysis: j.opts.analysis, Anonymous: j.opts.anonymize, Stage: j.stages.start,
	}
	if j.opts.step >= 0 {
		o.Link.Step = strconv.Itoa(j.opts.step)
	}
	if j.opts.methodSet {
		o.Method = o.Methods[j.opts.method]
	}
	return o
}

// htaOptions are the options of the hta method, which cuts its window itself.
func (j *job) htaOptions() hta.Options {
	o := hta.Options{Annotation: j.opts.annotation, First: -1, Last: -1,
		ZeroLaunch: j.opts.htaZeroWeightLaunch, KeepLastStep: j.opts.htaLastStep}
	if j.opts.step >= 0 {
		o.Annotation = trace.StepPrefix + strconv.Itoa(j.opts.step)
	}
	if j.opts.htaDataLoad != "" {
		o.DataLoad = []string{j.opts.htaDataLoad}
	}
	if first, last, isRange := strings.Cut(j.opts.instance, ":"); first != "" {
		o.First, _ = strconv.Atoi(first) // readWindow has checked both
		o.Last = o.First
		if isRange {
			o.Last, _ = strconv.Atoi(last)
		}
	}
	return o
}

// solve finds the path of a trace. draw says that it is going to be drawn.
func (j *job) solve(name string, tr *trace.Trace, draw bool) (*pipeline.Run, error) {
	o := j.pipeline()
	o.Advise = !j.opts.noAdvice && slices.Contains([]string{"run", "report", "advise"}, j.opts.command)
	o.Lean, o.Outline = j.opts.command == "run" || j.opts.command == "report", j.opts.command == "report" || j.opts.onlyCritical
	r, err := pipeline.Solve(tr, o, draw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}
