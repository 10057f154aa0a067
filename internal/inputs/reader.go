package inputs

import (
	"fmt"
	"io"

	"overlay/internal/frompftrace"
	"overlay/internal/kineto"
	"overlay/internal/report"
	"overlay/internal/trace"
)

// Reader reads what Found lists, as a command was told to.
type Reader struct {
	Stdin   io.Reader
	Memory  int64          // that the container allows, in bytes; 0 for no limit
	Jobs    int            // processors to work on
	Options kineto.Options // Strict, MaxExpand and Process, of every trace

	Stage  func(name string)                                // told when a stage of reading one trace begins
	Held   func(bytes int64)                                // told what inputs hold in memory that the garbage collector does not know
	Sized  func(text, held int64) (lend func(n int) []byte) // told how large one trace is; gives the memory for its events, nil: the usual
	Parsed func(events int, held int64)                     // told how many events one trace has
}

// NewReader makes a reader that works on so many processors and tells nobody how it goes.
func NewReader(stdin io.Reader, jobs int, o kineto.Options) *Reader {
	return &Reader{Stdin: stdin, Jobs: jobs, Options: o, Stage: func(string) {}, Held: func(int64) {},
		Sized: func(int64, int64) func(int) []byte { return nil }, Parsed: func(int, int64) {}}
}

// open reads the bytes of an input, decompressed. Of a folder, a pattern or an archive it is the only trace.
func (r *Reader) open(name string) (*Input, error) {
	r.Stage("reading")
	in, err := r.openOnly(name)
	if err != nil {
		return nil, err
	}
	r.Held(in.held)
	in.lend = r.Sized(max(in.text, int64(len(in.Bytes))), in.held)
	return in, nil
}

func (r *Reader) openOnly(name string) (*Input, error) {
	name, err := OnlyTrace(name)
	if err != nil {
		return nil, err
	}
	t := File{Path: name}
	if info, err := Disk.Stat(name); name != "-" && err == nil && info.Mode().IsRegular() {
		if t.archive, err = archiveOf(name); err != nil {
			return nil, err
		}
	}
	if t.archive == noArchive {
		return openInput(name, r.Stdin, r.Options, RoomFor(r.Memory))
	}
	var only *Input
	err = t.eachMember(r.Options.MaxExpand, func(m *archiveMember) error {
		if only != nil {
			return fmt.Errorf("%s holds several traces, and this command takes one: unpack it and give one; 'overlay check' lists them", report.Plain(name))
		}
		var err error
		only, err = m.spool(r.Options, RoomFor(r.Memory))
		return err
	})
	if err == nil && only == nil {
		err = noMembers(name)
	}
	return only, err
}

// Load reads a trace to analyse it. Its text stays mapped or in memory until the program ends: the outputs are made from it.
func (r *Reader) Load(name string) (*trace.Trace, error) {
	tr, err := r.LoadAny(name)
	if err != nil {
		return tr, err
	}
	return Analysable(name, tr)
}

// Analysable refuses a trace that lacks what joins its records.
func Analysable(name string, tr *trace.Trace) (*trace.Trace, error) {
	if frompftrace.Unjoined(tr) {
		return nil, fmt.Errorf("%s: %s", Name(name), frompftrace.UnjoinedText)
	}
	return tr, nil
}

// LoadAny reads a trace, also one that lacks what an analysis needs.
func (r *Reader) LoadAny(name string) (*trace.Trace, error) {
	in, err := r.open(name)
	if err != nil {
		return nil, err
	}
	r.Stage("parsing")
	tr, err := decode(name, in, in.options(r.Options), RoomFor(r.Memory))
	if err == nil {
		r.Held(in.held)
		r.Parsed(len(tr.Events), in.held)
	}
	return tr, err
}
