package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"overlay/internal/kineto"
)

// memoryLimit is how much of a decompressed input stays in memory; the rest goes to a temporary file that is mapped.
const memoryLimit = 4 << 30

// input is the bytes of a trace, decompressed. They stay until the program ends.
type input struct {
	bytes []byte
	cut   bool // a compressed input ended early
}

// openInput maps a plain file and decompresses anything else: other files, standard input, FIFOs.
func openInput(name string, stdin io.Reader, o kineto.Options) (*input, error) {
	if name == "-" {
		return spoolInput(stdin, "standard input", 0, o)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, inputError(name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, inputError(name, err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give a trace file", name)
	}
	if !info.Mode().IsRegular() {
		return spoolInput(f, name, 0, o)
	}
	head := make([]byte, 16)
	n, _ := f.ReadAt(head, 0)
	if kineto.Sniff(head[:n]) == kineto.Plain && info.Size() > 0 {
		if b, err := mapFile(f, info.Size()); err == nil {
			return &input{bytes: b}, nil
		}
	}
	return spoolInput(f, name, expansion(f, info.Size()), o)
}

// expansion guesses the size of a gzip file's content from its last bytes, which hold it modulo 4 GiB.
func expansion(f *os.File, size int64) int64 {
	var tail [4]byte
	if size < 18 {
		return 0
	}
	if _, err := f.ReadAt(tail[:], size-4); err != nil {
		return 0
	}
	n := int64(tail[0]) | int64(tail[1])<<8 | int64(tail[2])<<16 | int64(tail[3])<<24
	if n > 64*size { // not gzip, or several members: grow as it comes
		return 0
	}
	return n
}

func spoolInput(r io.Reader, name string, hint int64, o kineto.Options) (*input, error) {
	s := &spool{b: make([]byte, 0, min(hint, memoryLimit)), limit: memoryLimit}
	src, cut, err := kineto.Decompress(r, name, o, s)
	if err != nil {
		return nil, err
	}
	return &input{bytes: src, cut: cut}, nil
}

// spool keeps bytes in memory up to limit, then in a temporary file without a name.
type spool struct {
	b     []byte
	limit int
	file  *os.File
	size  int64
}

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil {
		if len(s.b)+len(p) <= s.limit {
			s.b = append(s.b, p...)
			return len(p), nil
		}
		f, err := os.CreateTemp("", "overlay-*.json")
		if err != nil {
			return 0, err
		}
		os.Remove(f.Name())
		s.file = f
		if _, err := f.Write(s.b); err != nil {
			return 0, err
		}
		s.b = nil
	}
	return s.file.Write(p)
}

func (s *spool) Bytes() ([]byte, error) {
	if s.file == nil {
		return s.b, nil
	}
	defer s.file.Close()
	return mapFile(s.file, s.size)
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
