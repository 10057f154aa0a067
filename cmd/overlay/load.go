package main

import (
	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// readOptions are the flags that reading a trace looks at.
func (j *job) readOptions() kineto.Options {
	return kineto.Options{Strict: j.opts.strict, MaxExpand: j.opts.maxExpand}
}

// open reads the bytes of an input, decompressed. An archive gives its only trace.
func (j *job) open(name string) (*input, kineto.Options, error) {
	j.stages.start("reading")
	o := j.readOptions()
	in, err := j.openOnly(name, o)
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
	j.stages.start("parsing")
	return decode(name, in, o)
}

// decode makes a trace of the bytes of an input.
func decode(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	if err := kineto.RefusePerfetto(in.bytes, inputName(name)); err != nil {
		return nil, err
	}
	return kineto.Parse(in.bytes, inputName(name), o)
}
