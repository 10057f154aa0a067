package main

import (
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// load reads a trace. Its bytes stay mapped or in memory until the program ends: the outputs are made from them.
func (j *job) load(name string) (*trace.Trace, error) {
	j.stages.start("reading")
	o := kineto.Options{Jobs: j.opts.jobs, Strict: j.opts.strict, MaxExpand: j.opts.maxExpand}
	in, err := openInput(name, j.stdin, o)
	if err != nil {
		return nil, err
	}
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	j.stages.start("parsing")
	o.Cut = in.cut
	return kineto.Parse(in.bytes, shown, o)
}
