package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"overlay/internal/analyses"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/slim"
	"overlay/internal/trace"
)

// analysis is what the stages know of one input.
type analysis struct {
	trace    *trace.Trace
	graph    *cdg.Graph
	path     *critpath.Path
	analyses *analyses.Result // those that were asked for, nil for none
	slim     bool             // window, method and delays are those of the run that wrote the trace
}

// analyse reads a trace and finds its critical path.
func (j *job) analyse(name string) (a analysis, err error) {
	tr, err := j.load(name)
	if err != nil {
		return a, err
	}
	return j.analyseTrace(name, tr)
}

func (j *job) analyseTrace(name string, tr *trace.Trace) (a analysis, err error) {
	a.trace = tr
	j.stages.start("linking")
	o := cdg.Options{Annotation: j.opts.annotation, Instance: j.opts.instance, Threads: j.opts.threads}
	if j.opts.step >= 0 {
		o.Step = strconv.Itoa(j.opts.step)
	}
	method := j.opts.method
	rec, err := slim.ReadRecord(a.trace)
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	if rec != nil {
		a.slim, o.Recorded = true, &rec.Recorded
		if !j.opts.methodSet && slices.Contains(methods, rec.Method) {
			method = rec.Method
		}
	}
	if a.graph, err = cdg.Build(a.trace, o); err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	if w := a.graph.Window; w.End <= w.Start {
		return a, fmt.Errorf("%s: no activity of CPU threads or GPU streams in the window: is it a trace of the PyTorch profiler? See what it holds with 'overlay check'", name)
	}
	runtime.GC() // of what linking left
	j.stages.start("path")
	switch method {
	case "ctda":
		a.path, err = critpath.CTDA(a.graph, critpath.Options{})
	case "hta":
		a.path, err = j.findHTA(a.trace)
	default:
		a.path, err = critpath.Exact(a.graph, critpath.Options{})
	}
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// methods are the values of --method.
var methods = []string{"exact", "ctda", "hta"}

// findHTA runs the peer's method with the peer's options.
func (j *job) findHTA(tr *trace.Trace) (*critpath.Path, error) {
	o := hta.Options{Annotation: j.opts.annotation, First: -1, Last: -1,
		ZeroLaunch: j.opts.htaZeroWeightLaunch, KeepLastStep: j.opts.htaLastStep}
	if j.opts.step >= 0 {
		o.Annotation = "ProfilerStep#" + strconv.Itoa(j.opts.step)
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
	g, err := hta.Find(tr, o)
	if err != nil {
		return nil, err
	}
	return g.AsPath(), nil
}

// runAnalyses makes the analyses of --analysis.
func (j *job) runAnalyses(a analysis) *analyses.Result {
	if len(j.opts.analyses) == 0 {
		return nil
	}
	j.stages.start("analyses")
	return analyses.Run(a.graph, a.path, j.opts.analyses, j.opts.analysis)
}
