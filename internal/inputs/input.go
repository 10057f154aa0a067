package inputs

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"overlay/internal/kineto"
	"overlay/internal/vendors"
)

// Input is the bytes of a trace, decompressed. They stay until the program ends.
type Input struct {
	Bytes  []byte
	mapped []byte             // what to give back to the system, Bytes or more than them; nil when the collector does
	Cut    bool               // a compressed input ended early
	ahead  *kineto.Ahead      // what was read of its events while it was decompressed
	Size   int64              // of the file as it is on disk; of what came, when it is no file
	text   int64              // bytes of the input, decompressed
	held   int64              // bytes that the process holds in memory for it
	from   int64              // bytes of the file of another format that the text was made from, 0 for none
	form   vendors.Form       // what that is
	lend   func(n int) []byte // memory for its events; nil: the usual
}

// options are those of reading the trace, with what is known of this input.
func (in *Input) options(o kineto.Options) kineto.Options {
	o.Cut, o.Ahead, o.From, o.Form, o.Lend = in.Cut, in.ahead, in.from, in.form, in.lend
	return o
}

// close lets go of the bytes: nothing that was read from them may be used any more.
func (in *Input) close() {
	if in.mapped != nil {
		release(in.mapped)
	}
	in.Bytes, in.mapped = nil, nil
}

// openInput maps a plain file, be it standard input, and decompresses anything else: other files, pipes, FIFOs. Of
// those, up to room bytes stay in memory.
func openInput(name string, stdin io.Reader, o kineto.Options, room int64) (*Input, error) {
	shown, f := name, (*os.File)(nil)
	if name == "-" {
		shown = "standard input"
		var ok bool
		if f, ok = stdin.(*os.File); !ok {
			return spoolInput(stdin, shown, o, room)
		}
	} else {
		var err error
		if f, err = Disk.Open(name); err != nil {
			return nil, Error(name, err)
		}
		defer f.Close()
	}
	info, err := f.Stat()
	if err != nil {
		return nil, Error(shown, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give a trace file", shown)
	}
	if !info.Mode().IsRegular() {
		return spoolInput(f, shown, o, room)
	}
	head := make([]byte, 16)
	n, _ := f.ReadAt(head, 0)
	format := kineto.Sniff(head[:n])
	at, err := f.Seek(0, io.SeekCurrent) // a shell may have read the start of standard input
	if (format == kineto.Plain || format == kineto.Perfetto) && info.Size() > 0 && err == nil && at == 0 {
		if b, err := mapFile(f, info.Size()); err == nil {
			return &Input{Bytes: b, mapped: b, Size: info.Size()}, nil
		}
	}
	in, err := spoolInput(f, shown, o, room)
	if err != nil {
		return nil, err
	}
	in.Size = info.Size()
	return in, nil
}

func spoolInput(r io.Reader, name string, o kineto.Options, room int64) (*Input, error) {
	s := newSpool(room)
	x, err := kineto.Decompress(r, name, o, s)
	if err != nil {
		s.drop()
		return nil, err
	}
	in := &Input{Bytes: x.Bytes, mapped: s.mapped(x.Bytes), Cut: x.Cut, ahead: x.Ahead, Size: x.Size, text: x.Size}
	if s.file == nil {
		in.held = s.size
	}
	return in, nil
}

// Guard turns a fault in a mapped file, which happens when the file shrinks while it is read, into an error.
func Guard(name string, work func() error) (err error) {
	debug.SetPanicOnFault(true)
	defer func() {
		x := recover()
		if x == nil {
			return
		}
		if _, fault := x.(interface{ Addr() uintptr }); fault {
			if name == "" {
				name = "the input"
			}
			err = fmt.Errorf("%s shrank while it was read: wait until it is written, and try again", name)
			return
		}
		panic(x)
	}()
	return work()
}
