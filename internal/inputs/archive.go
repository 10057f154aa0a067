package inputs

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/kineto"
	"overlay/internal/limits"
	"overlay/internal/report"
)

// archiveKind is what an archive of traces is.
type archiveKind uint8

const (
	noArchive archiveKind = iota
	tarArchive
	zipArchive
	processArchive // a trace in which several processes launched GPU work
)

// archiveOf tells by its content whether a file is an archive: a zip, or a tar that may be compressed.
func archiveOf(path string) (archiveKind, error) {
	f, err := Disk.Open(path)
	if err != nil {
		return noArchive, Error(path, err)
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
	if isTar(head) {
		return tarArchive, nil
	}
	return noArchive, nil
}

// isTar tells a tar by the header of its first member.
func isTar(head []byte) bool {
	const magic = 257 // of POSIX and GNU headers
	return len(head) >= 512 && bytes.HasPrefix(head[magic:], []byte("ustar"))
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

// archiveMember is a trace of an archive while it is read.
type archiveMember struct {
	name  string // in the archive
	shown string // the archive and the name: no other member has the same
	cutReader
	meter *limits.Meter // of the archive

	process *Input // it is one of the processes of a trace: its text, until somebody takes it
}

// spool decompresses a member.
func (m *archiveMember) spool(o kineto.Options, room int64) (*Input, error) {
	if in := m.process; in != nil {
		m.process = nil
		return in, nil
	}
	in, err := spoolInput(m, m.shown, o, room)
	if in != nil {
		in.Cut = in.Cut || m.cut
	}
	return in, err
}

// eachMember calls use for every trace of an archive, in the order in which they stand there. A member is to be read before use
// returns.
func (t *File) eachMember(limit int64, use func(m *archiveMember) error) error {
	if t.archive == processArchive {
		return t.eachProcess(limit, use)
	}
	f, err := Disk.Open(t.Path)
	if err != nil {
		return Error(t.Path, err)
	}
	defer f.Close()
	if t.archive == zipArchive {
		return t.eachOfZip(f, limit, use)
	}
	return t.eachOfTar(f, limit, use)
}

// use hands out a member. Of an archive that becomes more than it may no further one is read.
func (t *File) use(m *archiveMember, use func(m *archiveMember) error) error {
	err := use(m)
	if much := m.meter.Err(); much != nil {
		return fmt.Errorf("%s: %w", report.Plain(t.Path), much)
	}
	return err
}

func (t *File) eachOfTar(f *os.File, limit int64, use func(m *archiveMember) error) error {
	fail := func(err error) error {
		return fmt.Errorf("%s: the archive is broken: %w", report.Plain(t.Path), err)
	}
	stream, err := expand(f)
	if err != nil {
		return fail(err)
	}
	defer stream.Close()
	left := &limits.Reader{R: stream, Meter: limits.NewMeter(limit), Packed: func() int64 { at, _ := f.Seek(0, io.SeekCurrent); return at }}
	names := memberNames{}
	for members := tar.NewReader(left); ; {
		h, err := members.Next()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("%s: the archive is cut: what follows is lost", report.Plain(t.Path))
		case errors.As(err, new(*limits.TooMuch)):
			return fmt.Errorf("%s: %w", report.Plain(t.Path), err)
		case err != nil:
			return fail(err)
		case h.Typeflag != tar.TypeReg || !IsTraceName(h.Name):
			continue
		}
		if err := t.use(&archiveMember{name: h.Name, shown: names.shown(t.Path, h.Name), cutReader: cutReader{r: members}, meter: left.Meter}, use); err != nil {
			return err
		}
	}
}

func (t *File) eachOfZip(f *os.File, limit int64, use func(m *archiveMember) error) error {
	info, err := f.Stat()
	if err != nil {
		return Error(t.Path, err)
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return fmt.Errorf("%s: the archive is broken or cut: %w", report.Plain(t.Path), err)
	}
	if overlaps(z, info.Size()) {
		return fmt.Errorf("%s: the members of the archive lie over each other, so that it holds more than there is room for: pack it again", report.Plain(t.Path))
	}
	left := &limits.Reader{Meter: limits.NewMeter(limit)}
	names := memberNames{}
	for _, h := range z.File {
		if h.FileInfo().IsDir() || !IsTraceName(h.Name) {
			continue
		}
		left.R = openMember(h)
		left.Meter.Allow(int64(min(h.CompressedSize64, 1<<40)) * limits.Packed)
		if err := t.use(&archiveMember{name: h.Name, shown: names.shown(t.Path, h.Name), cutReader: cutReader{r: left}, meter: left.Meter}, use); err != nil {
			return err
		}
	}
	return nil
}

// noMembers says that an archive holds nothing to read.
func noMembers(name string) error {
	return fmt.Errorf("%s: no traces in this archive (looked for *.json and *.pftrace, also .gz and .zst; a table of coarse records has to be unpacked)", report.Plain(name))
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

// overlaps reports whether the members of a zip take more bytes than the file has: then some lie over others.
func overlaps(z *zip.Reader, size int64) bool {
	for _, h := range z.File {
		if size -= int64(min(h.CompressedSize64, 1<<62)); size < 0 {
			return true
		}
	}
	return false
}

// memberNames counts how often each name stands in an archive.
type memberNames map[string]int

// shown is what messages call a member, and what tells it from others of the same name.
func (n memberNames) shown(archive, name string) string {
	n[name]++
	if n[name] > 1 {
		return fmt.Sprintf("%s/%s (number %d)", archive, name, n[name])
	}
	return archive + "/" + name
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

// errStopped ends the reading of an archive of which nothing more is wanted.
var errStopped = errors.New("stopped")
