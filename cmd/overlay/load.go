package main

import (
	"fmt"

	"overlay/internal/frompftrace"
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

// load reads a trace to analyse it.
func (j *job) load(name string) (*trace.Trace, error) {
	tr, err := j.loadAny(name)
	if err == nil && frompftrace.Unjoined(tr) {
		return nil, fmt.Errorf("%s: %s", inputName(name), frompftrace.UnjoinedText)
	}
	return tr, err
}

// loadAny reads a trace. Its text stays mapped or in memory until the program ends: the outputs are made from it.
func (j *job) loadAny(name string) (*trace.Trace, error) {
	in, o, err := j.open(name)
	if err != nil {
		return nil, err
	}
	if kineto.IsPerfetto(in.bytes) {
		return j.parsePerfetto(name, in, o)
	}
	return j.parse(name, in, o)
}

// parsePerfetto reads a .pftrace. It becomes text, after which its own bytes are no longer needed.
func (j *job) parsePerfetto(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	j.stages.start("parsing")
	text := newSpool(roomFor(j.memory))
	tr, err := frompftrace.Parse(in.bytes, inputName(name), o, text)
	if err != nil {
		text.drop()
		return nil, err
	}
	in.release()
	if text.file == nil {
		limitHeap(j.memory, text.size)
	}
	return tr, nil
}

func (j *job) parse(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	j.stages.start("parsing")
	return kineto.Parse(in.bytes, inputName(name), o)
}
