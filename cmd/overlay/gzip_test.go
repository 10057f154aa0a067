package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"
)

// TestBlockWriter reads back with the standard library what was written by blocks, and wants the same bytes from any
// number of workers.
func TestBlockWriter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, gzipBlock - 1, gzipBlock, gzipBlock + 1, 5*gzipBlock + 12345} {
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(r.IntN(7))
		}
		var first []byte
		for _, jobs := range []int{1, 2, 7} {
			var out bytes.Buffer
			z := newBlockWriter(&out, jobs)
			for b := data; len(b) > 0; {
				n := min(len(b), 1+r.IntN(300_000))
				if _, err := z.Write(b[:n]); err != nil {
					t.Fatal(err)
				}
				b = b[n:]
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = bytes.Clone(out.Bytes())
			}
			if !bytes.Equal(out.Bytes(), first) {
				t.Errorf("size %d: %d jobs give other bytes than one", size, jobs)
			}
			g, err := gzip.NewReader(&out)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(g)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("size %d, %d jobs: %d bytes come back, error %v", size, jobs, len(got), err)
			}
		}
	}
}

// TestBlockWriterError: the error of the file comes out of Close, and the writer ends early.
func TestBlockWriterError(t *testing.T) {
	noise := make([]byte, gzipBlock)
	r := rand.New(rand.NewPCG(3, 4))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for _, limit := range []int{0, 10, gzipBlock + 100} {
		z := newBlockWriter(&failAt{limit}, 2)
		var writeErr error
		for i := 0; i < 200 && writeErr == nil; i++ {
			_, writeErr = z.Write(noise)
		}
		if writeErr == nil {
			t.Errorf("limit %d: 200 blocks are taken", limit)
		}
		if err := z.Close(); err == nil || err == io.ErrClosedPipe {
			t.Errorf("limit %d: Close says %v", limit, err)
		}
	}
}
