package main

import (
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/anonymize"
	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/critpath/hta"
	"overlay/internal/inputs"
	"overlay/internal/pipeline"
	"overlay/internal/ranks"
	"overlay/internal/trace"
)

// methods are the values of --method.
var methods = []string{"exact", "ctda", "hta"}

// pipeline is what the flags say of how a trace is analysed.
func (j *job) pipeline() pipeline.Options {
	o := pipeline.Options{
		Link:     cdg.Options{Annotation: j.opts.annotation, Instance: j.opts.instance, Threads: j.opts.threads},
		Methods:  map[string]critpath.Method{"exact": critpath.Exact, "ctda": critpath.CTDA, "hta": hta.Method(j.opts.htaOptions())},
		Analyses: j.opts.analyses, Unasked: j.opts.pageOnly, Analysis: j.opts.analysis, Stage: j.stages.start,
	}
	if j.opts.anonymize {
		o.Anonymize = anonymize.Graph
	}
	if j.opts.graphs != "" {
		o.Join = j.captured.join
	}
	o.Link.Step, o.Advise = j.opts.step, j.opts.advice
	if j.opts.methodSet {
		o.Method = o.Methods[j.opts.method]
	}
	return o
}

// htaOptions are the options of the hta method, which cuts its window itself.
func (o *options) htaOptions() hta.Options {
	h := hta.Options{Annotation: o.annotation, First: -1, Last: -1,
		ZeroLaunch: o.htaZeroWeightLaunch, KeepLastStep: o.htaLastStep}
	if o.step != "" {
		h.Annotation = trace.StepPrefix + o.step
	}
	if o.htaDataLoad != "" {
		h.DataLoad = []string{o.htaDataLoad}
	}
	if first, last, isRange := strings.Cut(o.instance, ":"); first != "" {
		h.First, _ = strconv.Atoi(first) // readWindow has checked both
		h.Last = h.First
		if isRange {
			h.Last, _ = strconv.Atoi(last)
		}
	}
	return h
}

// solve finds the path of a trace. draw says that it is going to be drawn.
func (j *job) solve(name string, tr *trace.Trace, o pipeline.Options, draw bool) (*pipeline.Run, error) {
	if j.opts.device != "" && len(tr.DeviceNames) == 0 {
		tr.DeviceNames[0] = j.opts.device // of one model are all devices of a trace
	}
	r, err := pipeline.Solve(tr, o, draw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", inputs.Name(name), err)
	}
	return r, nil
}

// ofRank is how each rank of a job is analysed: as a whole, whatever the window of the job.
func ofRank(o pipeline.Options) pipeline.Options {
	o.Link.Step, o.Stage = "", nil
	return o
}

// usage is a wrong command line.
func (o *options) usage(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...), o.command}
}

// stepNumber is the number that names a step of a job, -1 for none.
func (o *options) stepNumber(word string) (int, error) {
	if word == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		return -1, o.usage("step %s: over several ranks a step is named by its number alone", word)
	}
	return n, nil
}

// jobFlags refuses what means nothing over several ranks.
func (o *options) jobFlags() error {
	switch {
	case o.chrome:
		return o.usage("the ranks of a job become one .pftrace: name it so with -o; Chrome's format takes one trace")
	case (o.tar || o.zip) && (o.anonymize || o.onlyCritical):
		return o.usage("an archive holds the traces of the ranks as they are; name the output .pftrace for --anonymize and --only-critical")
	case o.methodSet && o.method != "exact":
		return o.usage("--method %s has no meaning over several ranks; leave it out, or give one trace", o.method)
	case o.annotation != "" && o.asked:
		return o.usage("--annotation is for one trace; over several ranks the window is the whole job")
	case o.annotation != "":
		return o.usage("--annotation is for one trace; over several ranks the window is the whole job or --step N")
	case len(o.analyses) > 0 && !o.pageOnly:
		return o.usage("--analysis is for one trace; give that of one rank")
	case o.asked && o.step != "":
		return o.usage("--step is for one trace here; over several ranks write step:%s into a selector", o.step)
	case o.asked && o.questions.Best > 0:
		return o.usage("--best is for one trace; over several ranks there are --each and --median")
	case o.topSet && (o.json || o.html != ""):
		return o.usage("--top is for the text of several ranks: their JSON and page list everything")
	}
	return nil
}

// oneRankFlags refuses what means nothing for one trace.
func (o *options) oneRankFlags() error {
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"hosts", o.hosts != ""}, {"trust-clocks", o.trustClocks}, {"expect", o.expect != ranks.Expected{}}, {"ranks", o.ranks != ""}, {"median", o.median}, {"each", o.each != ""},
	} {
		if flag.set {
			return o.usage("--%s needs the traces of several ranks", flag.name)
		}
	}
	if o.capture > 1 {
		return o.usage("--capture %d of 1: this is one trace", o.capture)
	}
	return nil
}
