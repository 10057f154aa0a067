package inputs

import (
	"errors"
	"fmt"

	"overlay/internal/frompftrace"
	"overlay/internal/fromrecords"
	"overlay/internal/fromrocprof"
	"overlay/internal/fromxplane"
	"overlay/internal/kineto"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// parseOther reads a file of another format. It becomes text, which takes the place of its own bytes in the input.
func parseOther(name string, in *Input, o kineto.Options, room int64, parse parser) (*trace.Trace, error) {
	text := newSpool(room)
	tr, err := parse(in.Bytes, Name(name), o, kineto.NewSink(text, o))
	if several := (*kineto.Several)(nil); errors.As(err, &several) && text.size > 0 && text.file == nil { // its parts are made from the text
		in.close()
		in.Bytes, in.mapped, in.held = text.b, text.mapped(text.b), text.size
		return nil, err
	}
	if err != nil {
		text.drop()
		return nil, err
	}
	in.close()
	if text.file == nil {
		in.Bytes, in.mapped, in.held = text.b, text.mapped(text.b), text.size
	}
	return tr, nil
}

// otherFormats are those that are turned into text to be read, told by their first bytes.
var otherFormats = []otherFormat{
	{is: fromxplane.Is, parse: fromxplane.Parse}, // before Perfetto's, which begins with the same byte
	{is: kineto.IsPerfetto, parse: frompftrace.Parse},
	sqliteFormat,
	{is: fromrocprof.Is, parse: fromrocprof.Parse},
	{is: fromrecords.Is, parse: fromrecords.Parse},
}

// decode makes a trace of the bytes of an input, in whatever format they are.
func decode(name string, in *Input, o kineto.Options, room int64) (*trace.Trace, error) {
	process := o.Process
	tr, err := decodeAll(name, in, o, room)
	several := (*kineto.Several)(nil)
	switch {
	case process == "":
		return tr, err
	case errors.As(err, &several):
		part, err := several.Part(process)
		if err != nil {
			return nil, err
		}
		one, err := readPart(part, o, room)
		if err != nil {
			return nil, err
		}
		in.close()
		*in = Input{Bytes: one.Bytes, mapped: one.mapped, Size: in.Size, held: one.held}
		o.From, o.Form, o.Ahead = one.from, one.form, nil
		return kineto.Parse(in.Bytes, Name(name), o)
	case err == nil:
		err = fmt.Errorf("%s: --process %s: only one process launched GPU work in this file, and it is read without the flag", Name(name), report.Plain(process))
	}
	return nil, err
}

func decodeAll(name string, in *Input, o kineto.Options, room int64) (*trace.Trace, error) {
	if isTar(in.Bytes) {
		return nil, fmt.Errorf("%s is a tar archive: give it by name, or unpack it", report.Plain(Name(name)))
	}
	for _, f := range otherFormats {
		if in.from > 0 || !f.is(in.Bytes) {
			continue
		}
		if f.refuse != nil {
			if err := f.refuse(name); err != nil {
				return nil, err
			}
		}
		return parseOther(name, in, o, room, f.parse)
	}
	return kineto.Parse(in.Bytes, Name(name), o)
}
