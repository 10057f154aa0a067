// Package pgzip compresses to gzip on several cores. The output is one ordinary gzip member, and depends neither on the
// number of goroutines nor on how the input was cut into writes.
package pgzip

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"

	"github.com/klauspost/compress/flate"
)

const (
	blockSize = 1 << 20  // bytes compressed at a time
	window    = 32 << 10 // how far deflate looks back: the end of one block is the dictionary of the next
)

// Writer compresses what is written to it. Close finishes the member.
type Writer struct {
	w     io.Writer
	level int
	ahead int    // blocks that may be compressed at a time
	block []byte // not yet handed out
	dict  []byte // the last bytes before block
	order []chan []byte
	back  chan *compressor
	crc   uint32
	size  uint32
	err   error
}

// compressor is what one goroutine needs for a block.
type compressor struct {
	fw  *flate.Writer
	out bytes.Buffer
}

// NewWriter returns a writer that compresses at a level of compress/flate, as many blocks at a time as there are processors.
func NewWriter(w io.Writer, level int) (*Writer, error) {
	if _, err := flate.NewWriter(io.Discard, level); err != nil {
		return nil, err
	}
	ahead := runtime.GOMAXPROCS(0)
	z := &Writer{w: w, level: level, ahead: ahead, back: make(chan *compressor, ahead), block: make([]byte, 0, blockSize)}
	for range ahead {
		z.back <- nil
	}
	// No name and no time: the same input gives the same bytes.
	_, z.err = w.Write([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
	return z, z.err
}

// Write takes bytes to compress. The error may be that of an earlier block.
func (z *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if z.err != nil {
			return n - len(p), z.err
		}
		k := min(len(p), blockSize-len(z.block))
		z.block = append(z.block, p[:k]...)
		p = p[k:]
		if len(z.block) == blockSize {
			z.submit(false)
		}
	}
	return n, z.err
}

// submit starts the compression of the block, and writes finished ones so that at most ahead of them are under way.
func (z *Writer) submit(last bool) {
	z.crc = crc32.Update(z.crc, crc32.IEEETable, z.block)
	z.size += uint32(len(z.block))
	block, dict := z.block, z.dict
	result := make(chan []byte, 1)
	z.order = append(z.order, result)
	c := <-z.back
	go func() {
		if c == nil {
			c = &compressor{}
		}
		result <- c.compress(block, dict, z.level, last)
		z.back <- c
	}()
	z.dict = block[max(0, len(block)-window):]
	z.block = make([]byte, 0, blockSize)
	for len(z.order) >= z.ahead+1 {
		z.drain()
	}
}

func (z *Writer) drain() {
	out := <-z.order[0]
	z.order = z.order[1:]
	if z.err == nil {
		_, z.err = z.w.Write(out)
	}
}

// compress returns the deflate blocks of a block of input, ending at a byte border. It starts from
// the dictionary alone, so that the result does not depend on what the goroutine compressed before.
func (c *compressor) compress(block, dict []byte, level int, last bool) []byte {
	c.out.Reset()
	if c.fw == nil {
		c.fw, _ = flate.NewWriterDict(&c.out, level, dict) // NewWriter has checked the level
	} else {
		c.fw.ResetDict(&c.out, dict)
	}
	c.fw.Write(block)
	if last {
		c.fw.Close()
	} else {
		c.fw.Flush()
	}
	return bytes.Clone(c.out.Bytes())
}

// Close compresses the rest and writes the end of the member. It returns the first error of all writes.
func (z *Writer) Close() error {
	z.submit(true)
	for len(z.order) > 0 {
		z.drain()
	}
	if z.err != nil {
		return z.err
	}
	var tail [8]byte
	binary.LittleEndian.PutUint32(tail[:], z.crc)
	binary.LittleEndian.PutUint32(tail[4:], z.size)
	_, z.err = z.w.Write(tail[:])
	return z.err
}
