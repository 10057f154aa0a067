package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/kineto"
	"overlay/internal/report"
)

// archiveKind is what an archive of traces is.
type archiveKind uint8

const (
	noArchive archiveKind = iota
	tarArchive
	zipArchive
)

// archiveOf tells by its content whether a file is an archive: a zip, or a tar that may be compressed.
func archiveOf(path string) (archiveKind, error) {
	f, err := os.Open(path)
	if err != nil {
		return noArchive, inputError(path, err)
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	switch kineto.Sniff(head) {
	case kineto.Zip:
		return zipArchive, nil
	case kineto.Gzip, kineto.Zstd:
		f.Seek(0, io.SeekStart)
		r, err := expand(f)
		if err != nil {
			return noArchive, nil // the reader of traces says what is wrong
		}
		defer r.Close()
		head = make([]byte, 512)
		n, _ = io.ReadFull(r, head)
		head = head[:n]
	}
	const magic = 257 // of POSIX and GNU headers
	if len(head) == 512 && bytes.HasPrefix(head[magic:], []byte("ustar")) {
		return tarArchive, nil
	}
	return noArchive, nil
}

// expand decompresses a stream of gzip or zstd and passes on any other.
func expand(r io.Reader) (io.ReadCloser, error) {
	b := bufio.NewReaderSize(r, 1<<20)
	head, _ := b.Peek(16)
	switch kineto.Sniff(head) {
	case kineto.Gzip:
		return gzip.NewReader(b)
	case kineto.Zstd:
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(b), nil
}

// eachMember calls use for every trace of an archive, in the order in which they stand there. r is to be read before use
// returns. cut tells of a reader that came to its end whether the archive ended in the middle of the member.
func (t *traceFile) eachMember(limit int64, use func(name string, r io.Reader, cut func() bool) error) error {
	f, err := os.Open(t.path)
	if err != nil {
		return inputError(t.path, err)
	}
	defer f.Close()
	if t.archive == zipArchive {
		return t.eachOfZip(f, limit, use)
	}
	return t.eachOfTar(f, limit, use)
}

func (t *traceFile) eachOfTar(f *os.File, limit int64, use func(name string, r io.Reader, cut func() bool) error) error {
	fail := func(err error) error {
		return fmt.Errorf("%s: the archive is broken: %w", report.Plain(t.path), err)
	}
	stream, err := expand(f)
	if err != nil {
		return fail(err)
	}
	defer stream.Close()
	left := &limited{r: stream, left: limit}
	for members := tar.NewReader(left); ; {
		h, err := members.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s: the archive is cut: what follows is lost", report.Plain(t.path))
		case errors.Is(err, errExpands):
			return errExpands
		case err != nil:
			return fail(err)
		case h.Typeflag != tar.TypeReg || !namesTrace(h.Name):
			continue
		}
		m := &cutReader{r: members}
		if err := use(h.Name, m, func() bool { return m.cut }); err != nil {
			return err
		}
	}
}

func (t *traceFile) eachOfZip(f *os.File, limit int64, use func(name string, r io.Reader, cut func() bool) error) error {
	info, err := f.Stat()
	if err != nil {
		return inputError(t.path, err)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: the archive is broken or cut: %w", report.Plain(t.path), err)
	}
	left := &limited{left: limit}
	for _, h := range z.File {
		if h.FileInfo().IsDir() || !namesTrace(h.Name) {
			continue
		}
		left.r = openMember(h)
		m := &cutReader{r: left}
		if err := use(h.Name, m, func() bool { return m.cut }); err != nil {
			return err
		}
	}
	return nil
}

// openOnly opens an input; of an archive its only trace.
func (j *job) openOnly(name string, o kineto.Options) (*input, error) {
	name, err := onlyTrace(name)
	if err != nil {
		return nil, err
	}
	t := traceFile{path: name}
	if info, err := os.Stat(name); name != "-" && err == nil && info.Mode().IsRegular() {
		if t.archive, err = archiveOf(name); err != nil {
			return nil, err
		}
	}
	if t.archive == noArchive {
		return openInput(name, j.stdin, o, roomFor(j.memory))
	}
	var only *input
	err = t.eachMember(cmp.Or(o.MaxExpand, 64<<30), func(member string, r io.Reader, cut func() bool) error {
		if only != nil {
			return fmt.Errorf("%s holds several traces, and this command takes one: unpack it and give one; 'overlay check' lists them", report.Plain(name))
		}
		in, err := spoolInput(r, name+"/"+member, o, roomFor(j.memory))
		if err == nil {
			in.cut = in.cut || cut()
			only = in
		}
		return err
	})
	if err == nil && only == nil {
		err = noMembers(name)
	}
	return only, err
}

// noMembers says that an archive holds nothing to read.
func noMembers(name string) error {
	return fmt.Errorf("%s: no traces in this archive (looked for *.json and *.pftrace, also .gz and .zst)", report.Plain(name))
}

// openMember opens a member of a zip; what is wrong with it is said when it is read.
func openMember(h *zip.File) io.Reader {
	if h.Flags&1 != 0 {
		return &failing{errors.New("it is encrypted")}
	}
	r, err := h.Open()
	if err != nil {
		return &failing{err}
	}
	return r // without a file or memory of its own: there is nothing to close
}

// failing is a member that cannot be opened.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

// errExpands is that an archive is larger than it may be.
var errExpands = errors.New("the archive expands to more than --max-expand allows")

// limited is a stream that may not give more than some bytes: a small archive may expand without end.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errExpands
	}
	return n, err
}

// cutReader ends where an archive is cut, and says so: what came before is worth reading.
type cutReader struct {
	r   io.Reader
	cut bool
}

func (c *cutReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		c.cut, err = true, io.EOF
	}
	return n, err
}
