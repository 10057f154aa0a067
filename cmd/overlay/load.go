package main

import (
	"fmt"

	"overlay/internal/frompftrace"
	"overlay/internal/fromsqlite"
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
	j.size.expect(j.opts)
	j.size.text.Store(int64(len(in.bytes)))
	j.size.held.Store(in.held)
	o = in.options(o)
	if j.size.tight(j.memory) {
		o.Lend = func(n int) []byte {
			b := lendFile(n)
			if b != nil {
				j.size.lent.Store(true)
			}
			return b
		}
	}
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
	return analysable(name, tr, err)
}

// analysable refuses a trace that lacks what joins its records.
func analysable(name string, tr *trace.Trace, err error) (*trace.Trace, error) {
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
	j.stages.start("parsing")
	tr, err := decode(name, in, o, roomFor(j.memory))
	if err == nil {
		limitHeap(j.memory, in.held)
		j.size.held.Store(in.held)
		j.size.events.Store(int64(len(tr.Events)))
	}
	return tr, err
}

// parser turns the bytes of a file into text in a spool, and reads that.
type parser func(src []byte, name string, o kineto.Options, to kineto.Spool) (*trace.Trace, error)

// parseOther reads a file of another format. It becomes text, which takes the place of its own bytes in the input.
func parseOther(name string, in *input, o kineto.Options, room int64, parse parser) (*trace.Trace, error) {
	text := newSpool(room)
	tr, err := parse(in.bytes, inputName(name), o, text)
	if err != nil {
		text.drop()
		return nil, err
	}
	in.close()
	if text.file == nil {
		in.bytes, in.mapped, in.held = text.b, text.mapped(text.b), text.size
	}
	return tr, nil
}

// decode makes a trace of the bytes of an input, in whatever format they are.
func decode(name string, in *input, o kineto.Options, room int64) (*trace.Trace, error) {
	switch {
	case kineto.IsPerfetto(in.bytes):
		return parseOther(name, in, o, room, frompftrace.Parse)
	case fromsqlite.Is(in.bytes):
		return parseOther(name, in, o, room, fromsqlite.Parse)
	}
	return kineto.Parse(in.bytes, inputName(name), o)
}
