package inputs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"overlay/internal/kineto"
	"overlay/internal/limits"
)

// Split notes of a trace that its processes are traces of their own, if that is what reading it said.
func (f *Found) Split(k int, err error) bool {
	several := (*kineto.Several)(nil)
	if !errors.As(err, &several) || f.Files[k].archive != noArchive || f.Files[k].Path == "-" {
		return false
	}
	f.Files[k].archive = processArchive
	return true
}

// eachProcess calls use for the text of each process of a trace.
func (t *File) eachProcess(limit int64, use func(m *archiveMember) error) error {
	const room = spoolRoom
	o := kineto.Options{MaxExpand: limit}
	in, err := openInput(t.Path, nil, o, room)
	if err != nil {
		return err
	}
	defer in.close()
	_, err = decodeAll(t.Path, in, in.options(o), room)
	several := (*kineto.Several)(nil)
	if !errors.As(err, &several) {
		return cmp.Or(err, fmt.Errorf("%s changed while it was read", t.Path))
	}
	for i := range several.Parts {
		p := &several.Parts[i]
		one, err := readPart(p, o, room)
		if err != nil {
			return err
		}
		m := &archiveMember{name: p.Name, shown: t.Path + "/" + p.Name, cutReader: cutReader{r: bytes.NewReader(one.Bytes)}, meter: limits.NewMeter(limit), process: one}
		err = use(m)
		if m.process != nil {
			m.process.close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readPart makes an input of a process of a trace.
func readPart(p *kineto.Part, o kineto.Options, room int64) (*Input, error) {
	text := newSpool(room)
	from, err := p.Write(kineto.NewSink(text, o))
	var b []byte
	if err == nil {
		b, err = text.Bytes()
	}
	if err != nil {
		text.drop()
		return nil, err
	}
	in := &Input{Bytes: b, mapped: text.mapped(b), Size: text.size, from: from.From, form: from.Form}
	if text.file == nil {
		in.held = in.Size
	}
	return in, nil
}
