// Package chrome writes the Trace Event Format, the JSON that chrome://tracing, Perfetto and PyTorch's own tools
// read. It copies the bytes of events that exist, with small changes spliced in, and writes events that are added.
// It knows nothing of where they come from.
//
// The format: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU. Rules
// of Perfetto's import are named where they matter.
package chrome

import (
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
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

// Chunks writes n chunks in order. encode appends one to a buffer; as many calls of it as there are processors
// run at a time, each with a buffer of its own. What is written does not depend on their number.
func (w *Writer) Chunks(n int, encode func(dst []byte, chunk int) []byte) {
	workers := runtime.GOMAXPROCS(0)
	if workers <= 1 || n <= 1 {
		var buf []byte
		for i := 0; i < n && w.err == nil; i++ {
			buf = encode(buf[:0], i)
			w.Write(buf)
		}
		return
	}
	type result struct {
		chunk int
		buf   []byte
	}
	var next atomic.Int64
	var stop atomic.Bool
	var fault atomic.Pointer[any] // what a worker panicked with
	done := make(chan result, workers)
	free := make(chan []byte, 2*workers) // bounds what may be encoded ahead of the writer
	for range 2 * workers {
		free <- nil
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			debug.SetPanicOnFault(true) // the input may be a mapped file that shrinks
			defer func() {
				if x := recover(); x != nil {
					fault.CompareAndSwap(nil, &x)
					stop.Store(true)
				}
			}()
			for !stop.Load() {
				buf := <-free // before the chunk is taken: the oldest chunk always has a buffer
				i := int(next.Add(1)) - 1
				if i >= n {
					free <- buf
					return
				}
				done <- result{i, encode(buf[:0], i)}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()
	waiting := map[int][]byte{}
	for want := 0; want < n; {
		r, ok := <-done
		if !ok { // stopped by an error: the chunks that were begun have all arrived
			if x := fault.Load(); x != nil {
				panic(*x)
			}
			return
		}
		waiting[r.chunk] = r.buf
		for buf, ok := waiting[want]; ok; buf, ok = waiting[want] {
			delete(waiting, want)
			w.Write(buf)
			if w.err != nil {
				stop.Store(true)
			}
			free <- buf
			want++
		}
	}
}
