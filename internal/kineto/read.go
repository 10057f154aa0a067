package kineto

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"overlay/internal/limits"
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
	case len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18:
		return Zstd // begins with a frame to be skipped
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return Zip
	case len(head) > 2 && head[0] == 0x0a && !jsonAfterNewline(head):
		return Perfetto
	}
	return Plain
}

// jsonAfterNewline reports whether a file that starts with 0x0a is JSON: the byte is the tag of a packet and a newline
// too, and Kineto's files start with one. A packet whose length byte is '{' or '[' goes on with binary, JSON with a
// value, a key, an end or blanks.
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

// IsPerfetto tells a .pftrace from JSON. Both may begin with a line feed, which is the tag of a packet there and blank
// space here: what follows it decides.
func IsPerfetto(src []byte) bool { return Sniff(src[:min(len(src), sniffLen)]) == Perfetto }

// sniffLen is enough to see past the blank lines at the start of a JSON file.
const sniffLen = 512

// Spool keeps decompressed bytes.
type Spool interface {
	io.Writer
	Bytes() ([]byte, error) // all that was written
}

// counter counts the bytes read from a compressed stream, and keeps the error that reading them gave.
type counter struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if err != io.EOF {
		c.err = err
	}
	return n, err
}

// Unpacked is an input that was decompressed.
type Unpacked struct {
	Bytes []byte // but for those of the events in Ahead
	Size  int64  // with those
	Cut   bool   // the stream ended early
	Ahead *Ahead // what was read of the events on the way, for Options
}

// maxWindow is how far a zstd stream may look back: what zstd --long=30 asks for. The decoder keeps that much.
const maxWindow = 1 << 30

// Decompress copies the decompressed stream into a spool. A stream that is cut gives what came before, and Cut. The
// events of a JSON trace are read meanwhile, and their text is let go of: Ahead is what Parse needs to read the bytes.
func Decompress(r io.Reader, name string, o Options, to Spool) (*Unpacked, error) {
	in := &counter{r: r}
	b := bufio.NewReaderSize(in, 1<<20)
	head, err := b.Peek(16)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	fail := func(want string) error {
		return &SyntaxError{File: name, Offset: -1, Compressed: -1, Want: want}
	}
	var body io.Reader = b
	var meter *limits.Meter // of a compressed stream
	switch Sniff(head) {
	case Zip:
		return nil, fail("this is a zip archive: unpack it and give the trace inside")
	case Gzip:
		z, err := gzip.NewReader(b)
		if err != nil {
			return nil, fail("the gzip header is broken: " + err.Error())
		}
		z.Multistream(false)
		body = &gzipMembers{z, b}
		meter = limits.NewMeter(o.MaxExpand)
	case Zstd:
		z, err := newZstd(b)
		if err != nil {
			return nil, fail("the zstd header is broken: " + err.Error())
		}
		defer z.Close()
		body = z
		meter = limits.NewMeter(o.MaxExpand)
	}
	var n int64
	var full error // of the spool
	var much *limits.TooMuch
	if meter != nil {
		body = &limits.Reader{R: body, Meter: meter, Packed: func() int64 { return in.n - int64(b.Buffered()) }}
	}
	ahead, kept := unpackBeside(to, o, func(to *Ahead) bool {
		n, err, full = copyAll(to, body)
		if full == nil && errors.Is(err, io.ErrUnexpectedEOF) {
			// The zstd decoder still holds the last block when the checksum behind it is missing.
			var rest int64
			var more error
			if rest, more, full = copyAll(to, body); errors.As(more, &much) {
				err = more
			}
			n += rest
		}
		return full == nil && (err == nil || errors.Is(err, io.ErrUnexpectedEOF))
	})
	cut := false
	full = cmp.Or(full, kept)
	switch {
	case full != nil:
		return nil, fmt.Errorf("%s: %w", name, full)
	case in.err != nil:
		return nil, fmt.Errorf("%s: %w", name, in.err)
	case errors.As(err, &much):
		return nil, &SyntaxError{File: name, Offset: much.Most, Compressed: in.n, Want: much.Error(), Cause: much}
	case errors.Is(err, io.ErrUnexpectedEOF) && n == 0:
		return nil, &SyntaxError{File: name, Offset: 0, Compressed: in.n, Want: "the compressed data is cut before anything of it can be read"}
	case errors.Is(err, io.ErrUnexpectedEOF):
		cut = true
	case looksFar(err):
		return nil, fail(fmt.Sprintf("zstd looks back further than %d bytes: compress with --long=30 or less", maxWindow))
	case err != nil:
		return nil, &SyntaxError{File: name, Offset: n, Compressed: in.n, Want: "the compressed data is broken: " + err.Error()}
	}
	src, err := to.Bytes()
	return &Unpacked{src, ahead.length, cut, ahead}, err
}

// gzipMembers reads all members of a gzip file, and accepts zeros between and behind them, as tapes and block devices
// leave them and gzip does too.
type gzipMembers struct {
	z *gzip.Reader
	b *bufio.Reader
}

func (m *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil // the end comes again
		}
		for {
			c, err := m.b.ReadByte()
			if err != nil {
				return 0, err
			}
			if c != 0 {
				break
			}
		}
		m.b.UnreadByte()
		if magic, _ := m.b.Peek(2); !bytes.HasPrefix([]byte{0x1f, 0x8b}, magic) {
			return 0, gzip.ErrHeader // no member, whole or cut
		}
		if err := m.z.Reset(m.b); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF // in the middle of a header
			}
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// copyAll copies, and tells errors of the two sides apart.
func copyAll(to *Ahead, r io.Reader) (n int64, read, write error) {
	for {
		k, err := r.Read(to.room())
		n += int64(k)
		if err := to.took(k); err != nil {
			return n, nil, err
		}
		if err == io.EOF {
			return n, nil, nil
		}
		if err != nil {
			return n, err, nil
		}
	}
}
