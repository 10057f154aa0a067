// Package chrome writes the Trace Event Format, the JSON that chrome://tracing, Perfetto and PyTorch's own tools
// read. It copies the bytes of events that exist, with small changes spliced in, and writes events that are added.
// It knows nothing of where they come from.
//
// The format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Rules
// of Perfetto's import are named where they matter.
package chrome

import (
	"io"

	"overlay/internal/par"
)

// Writer writes the pieces of a document. The first error sticks: after it nothing is written any more.
type Writer struct {
	w   io.Writer
	err error
}

// NewWriter returns a Writer. It does not buffer: pieces should be large.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Err is the first error of the underlying writer.
func (w *Writer) Err() error { return w.err }

// Write writes a piece.
func (w *Writer) Write(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	n, err := w.w.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// chunkRoom is what a chunk takes at most, or its buffer grows.
const chunkRoom = 2 << 20

// Chunks writes n chunks in order. encode appends one to a buffer; as many calls of it as there are processors
// run at a time. What is written does not depend on their number.
func (w *Writer) Chunks(n int, encode func(dst []byte, chunk int) []byte) {
	par.InOrder(n, chunkRoom, func() par.Maker {
		return func(chunk int, buf []byte, put func([]byte) []byte) []byte { return put(encode(buf, chunk)) }
	}, func(b []byte) bool {
		w.Write(b)
		return w.err == nil
	})
}
