package kineto

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/trace"
)

// Format is what the first bytes of a file say it is.
type Format uint8

// The formats.
const (
	Plain Format = iota
	Gzip
	Zstd
	Zip
	Perfetto
)

// Sniff tells the format by magic bytes; names are not looked at.
func Sniff(head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return Zstd
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Zip
	case len(head) > 2 && head[0] == 0x0a && !jsonAfterNewline(head):
		return Perfetto
	}
	return Plain
}

// jsonAfterNewline: 0x0a is a newline too, and Kineto's files start with one. A packet whose length byte is '{' or '['
// goes on with binary, JSON with a value, a key, an end or blanks.
func jsonAfterNewline(head []byte) bool {
	i := skipSpace(head, 0)
	if i >= len(head) {
		return true
	}
	if head[i] != '{' && head[i] != '[' {
		return false
	}
	i = skipSpace(head, i+1)
	return i >= len(head) || bytes.IndexByte([]byte("\"{}[]"), head[i]) >= 0
}

// Read reads a trace from a stream: plain, gzip (of many members) or zstd, told apart by their first bytes. It keeps the
// decompressed bytes in memory. name is for messages.
func Read(r io.Reader, name string, o Options) (*trace.Trace, error) {
	src, cut, err := Decompress(r, name, o, &memory{})
	if err != nil {
		return nil, err
	}
	o.Cut = o.Cut || cut
	return Parse(src, name, o)
}

// Spool keeps decompressed bytes.
type Spool interface {
	io.Writer
	Bytes() ([]byte, error) // all that was written
}

type memory struct{ b []byte }

func (m *memory) Write(p []byte) (int, error) { m.b = append(m.b, p...); return len(p), nil }
func (m *memory) Bytes() ([]byte, error)      { return m.b, nil }

// counter counts the bytes read from a compressed stream.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Decompress copies the decompressed stream into a spool. A stream that is cut gives what came before, and cut.
func Decompress(r io.Reader, name string, o Options, to Spool) (src []byte, cut bool, err error) {
	in := &counter{r: r}
	b := bufio.NewReaderSize(in, 1<<20)
	head, err := b.Peek(16)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	fail := func(want string) error {
		return &SyntaxError{File: name, Offset: -1, Compressed: -1, Want: want}
	}
	var body io.Reader = b
	limit := int64(1<<63 - 1)
	switch Sniff(head) {
	case Zip:
		return nil, false, fail("this is a zip archive: unpack it and give the trace inside")
	case Perfetto:
		return nil, false, fail("this is a Perfetto trace (.pftrace): give the profiler's JSON; `overlay check` reads this file")
	case Gzip:
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, false, fail("the gzip header is broken: " + err.Error())
		}
		body = z
		limit = o.expandLimit()
	case Zstd:
		z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, false, fail("the zstd header is broken: " + err.Error())
		}
		defer z.Close()
		body = z
		limit = o.expandLimit()
	}
	n, err := copyUpTo(to, body, limit)
	switch {
	case n > limit:
		return nil, false, &SyntaxError{File: name, Offset: limit, Compressed: in.n, Want: fmt.Sprintf("the input expands to more than %d bytes: raise --max-expand", limit)}
	case errors.Is(err, io.ErrUnexpectedEOF):
		cut = true
	case isCorrupt(err):
		return nil, false, &SyntaxError{File: name, Offset: n, Compressed: in.n, Want: "the compressed data is broken: " + err.Error()}
	case err != nil:
		return nil, false, fmt.Errorf("%s: %w", name, err)
	}
	src, err = to.Bytes()
	return src, cut, err
}

func isCorrupt(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.Is(err, zstd.ErrMagicMismatch) ||
		bytes.Contains([]byte(err.Error()), []byte("flate")) || bytes.Contains([]byte(err.Error()), []byte("zstd")) || bytes.Contains([]byte(err.Error()), []byte("corrupt"))
}

func (o Options) expandLimit() int64 {
	if o.MaxExpand > 0 {
		return o.MaxExpand
	}
	return defaultExpand
}

// copyUpTo copies, and stops after limit bytes have been passed.
func copyUpTo(w io.Writer, r io.Reader, limit int64) (int64, error) {
	buf := make([]byte, 1<<20)
	var n int64
	for {
		k, err := r.Read(buf)
		if k > 0 {
			if n += int64(k); n > limit {
				return n, nil
			}
			if _, werr := w.Write(buf[:k]); werr != nil {
				return n, werr
			}
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
