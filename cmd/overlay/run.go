package main

import (
	"errors"
	"strings"
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

func (j *job) run() error { return errNotYet }

var errNotYet = errors.New("this stage is not connected yet")
