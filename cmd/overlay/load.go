package main

import (
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// open reads the bytes of an input, decompressed.
func (j *job) open(name string) (*input, kineto.Options, error) {
	j.stages.start("reading")
	o := kineto.Options{Strict: j.opts.strict, MaxExpand: j.opts.maxExpand}
	in, err := openInput(name, j.stdin, o, roomFor(j.memory))
	if err != nil {
		return nil, o, err
	}
	limitHeap(j.memory, in.held)
	o.Cut = in.cut
	return in, o, nil
}

// inputName is what messages call an input.
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// load reads a trace. Its bytes stay mapped or in memory until the program ends: the outputs are made from them.
func (j *job) load(name string) (*trace.Trace, error) {
	in, o, err := j.open(name)
	if err != nil {
		return nil, err
	}
	if err := kineto.RefusePerfetto(in.bytes, inputName(name)); err != nil {
		return nil, err
	}
	return j.parse(name, in, o)
}

func (j *job) parse(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	j.stages.start("parsing")
	return kineto.Parse(in.bytes, inputName(name), o)
}
