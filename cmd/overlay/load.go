package main

import (
	"fmt"

	"overlay/internal/frompftrace"
	"overlay/internal/fromsqlite"
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
	return j.parse(name, in, o)
}

// parse reads a trace in whatever format it is.
func (j *job) parse(name string, in *input, o kineto.Options) (*trace.Trace, error) {
	j.stages.start("parsing")
	switch {
	case kineto.IsPerfetto(in.bytes):
		return j.parseOther(name, in, o, frompftrace.Parse)
	case fromsqlite.Is(in.bytes):
		return j.parseOther(name, in, o, fromsqlite.Parse)
	}
	return kineto.Parse(in.bytes, inputName(name), o)
}

// parseOther reads a file of another format. It becomes text, after which its own bytes are no longer needed.
func (j *job) parseOther(name string, in *input, o kineto.Options, parse parser) (*trace.Trace, error) {
	text := newSpool(roomFor(j.memory))
	tr, err := parse(in.bytes, inputName(name), o, text)
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

// parser turns the bytes of a file into text in a spool, and reads that.
type parser func(src []byte, name string, o kineto.Options, to kineto.Spool) (*trace.Trace, error)
