package main

import (
	"errors"
	"strings"

	"overlay/internal/overlay"
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
	a, err := j.analyse(j.opts.input)
	if err != nil {
		return err
	}
	j.stages.start("drawing")
	ov := overlay.Annotate(a.trace, a.graph, a.path, overlay.Options{Flows: flowNames[j.opts.flows], Plain: j.opts.plain, Version: version})
	_, err = j.write(out, a.trace, ov)
	return err
}

// flowNames are the values of --flows.
var flowNames = map[string]overlay.Flows{"critical": overlay.FlowsCritical, "all": overlay.FlowsAll, "none": overlay.FlowsNone}

var errNotYet = errors.New("this stage is not connected yet")
