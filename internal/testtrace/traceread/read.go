// Package traceread reads traces from streams, for tests and what makes test data.
package traceread

import (
	"io"

	"overlay/internal/kineto"
	"overlay/internal/trace"
)

// Read reads a trace from a stream: plain, gzip (of many members) or zstd, told apart by their first bytes. It keeps the
// decompressed bytes in memory. name is for messages.
func Read(r io.Reader, name string, o kineto.Options) (*trace.Trace, error) {
	in, err := kineto.Decompress(r, name, o, &memory{})
	if err != nil {
		return nil, err
	}
	if kineto.IsPerfetto(in.Bytes) {
		return nil, &kineto.SyntaxError{File: name, Offset: -1, Compressed: -1, Want: "this is a Perfetto trace (.pftrace), no JSON"}
	}
	o.Cut, o.Ahead = o.Cut || in.Cut, in.Ahead
	return kineto.Parse(in.Bytes, name, o)
}

type memory struct{ b []byte }

func (m *memory) Write(p []byte) (int, error) { m.b = append(m.b, p...); return len(p), nil }
func (m *memory) Bytes() ([]byte, error)      { return m.b, nil }
