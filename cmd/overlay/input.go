package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"overlay/internal/kineto"
)

// input is the bytes of a trace, decompressed. They stay until the program ends.
type input struct {
	bytes  []byte
	mapped []byte        // what to give back to the system, bytes or more than them; nil when the collector does
	cut    bool          // a compressed input ended early
	ahead  *kineto.Ahead // what was read of its events while it was decompressed
	size   int64         // of the file as it is on disk; of what came, when it is no file
	held   int64         // bytes that the process holds in memory for it
}

// options are those of reading the trace, with what is known of this input.
func (in *input) options(o kineto.Options) kineto.Options {
	o.Cut, o.Ahead = in.cut, in.ahead
	return o
}

// close lets go of the bytes: nothing that was read from them may be used any more.
func (in *input) close() {
	if in.mapped != nil {
		release(in.mapped)
	}
	in.bytes, in.mapped = nil, nil
}

// openInput maps a plain file, be it standard input, and decompresses anything else: other files, pipes, FIFOs. Of
// those, up to room bytes stay in memory.
func openInput(name string, stdin io.Reader, o kineto.Options, room int64) (*input, error) {
	shown, f := name, (*os.File)(nil)
	if name == "-" {
		shown = "standard input"
		var ok bool
		if f, ok = stdin.(*os.File); !ok {
			return spoolInput(stdin, shown, o, room)
		}
	} else {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, inputError(name, err)
		}
		defer f.Close()
	}
	if strings.HasSuffix(name, ".xplane.pb") { // its first byte could be that of Perfetto's format
		return nil, fmt.Errorf("%s: the protocol buffers of XLA's profiler are not read: give the .trace.json.gz beside it", name)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, inputError(shown, err)
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
			return &input{bytes: b, mapped: b, size: info.Size()}, nil
		}
	}
	in, err := spoolInput(f, shown, o, room)
	if err != nil {
		return nil, err
	}
	in.size = info.Size()
	return in, nil
}

func spoolInput(r io.Reader, name string, o kineto.Options, room int64) (*input, error) {
	s := newSpool(room)
	x, err := kineto.Decompress(r, name, o, s)
	if err != nil {
		s.drop()
		return nil, err
	}
	in := &input{bytes: x.Bytes, mapped: s.mapped(x.Bytes), cut: x.Cut, ahead: x.Ahead, size: int64(len(x.Bytes))}
	if s.file == nil {
		in.held = in.size
	}
	return in, nil
}

// guardInput turns a fault in a mapped file, which happens when the file shrinks while it is read, into an error.
func guardInput(name string, work func() error) (err error) {
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
