package main

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
)

const (
	// gzipBlock is what one member of the output holds. Larger blocks gain under 1 % in size.
	gzipBlock = 1 << 20
	// gzipLevel trades size for time: see docs/performance.md.
	gzipLevel = 6
)

// blockWriter compresses blocks side by side and writes them in order, each as a gzip member of its own; readers take
// the members as one stream. The borders of blocks depend on the content alone, so the bytes do not depend on jobs.
type blockWriter struct {
	block   []byte
	pending chan chan []byte // compressed blocks, in order
	done    chan error       // the first write error, or nil, after the last block
	failed  chan struct{}    // closed at the first write error: nothing that follows matters
	sent    int              // blocks
}

func newBlockWriter(w io.Writer, jobs int) *blockWriter {
	z := &blockWriter{block: make([]byte, 0, gzipBlock), pending: make(chan chan []byte, jobs), done: make(chan error, 1), failed: make(chan struct{})}
	go func() {
		var first error
		for c := range z.pending {
			if b := <-c; first == nil {
				if _, first = w.Write(b); first != nil {
					close(z.failed)
				}
			}
		}
		z.done <- first
	}()
	return z
}

// Write collects blocks. After a write error it fails early; Close tells the error.
func (z *blockWriter) Write(b []byte) (int, error) {
	total := len(b)
	for len(b) > 0 {
		n := min(len(b), gzipBlock-len(z.block))
		z.block = append(z.block, b[:n]...)
		b = b[n:]
		if len(z.block) == gzipBlock {
			z.send()
		}
		select {
		case <-z.failed:
			return total - len(b), io.ErrClosedPipe
		default:
		}
	}
	return total, nil
}

// send hands the current block to a goroutine; the channel's capacity limits how many run.
func (z *blockWriter) send() {
	block, c := z.block, make(chan []byte, 1)
	z.block = make([]byte, 0, gzipBlock)
	z.pending <- c
	z.sent++
	go func() {
		var out bytes.Buffer
		out.Grow(len(block) / 4)
		g, err := gzip.NewWriterLevel(&out, gzipLevel)
		if err != nil {
			panic("overlay: internal error: gzip level: " + err.Error())
		}
		g.Write(block) // a bytes.Buffer does not fail
		g.Close()
		c <- out.Bytes()
	}()
}

// Close writes the last block; without any block it writes an empty member, since an empty file is no gzip.
func (z *blockWriter) Close() error {
	if len(z.block) > 0 || z.sent == 0 {
		z.send()
	}
	close(z.pending)
	return <-z.done
}
