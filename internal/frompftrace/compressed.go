package frompftrace

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"overlay/internal/limits"
)

// compressed expands the packets of a packet that holds others.
func (r *reader) compressed(field uint32, data []byte, at int64, depth int) {
	if depth >= maxCompressedDepth || r.tooLarge != nil {
		r.mend(ReasonCompression, at)
		return
	}
	out, err := r.expand(field, data)
	if much := (*limits.TooMuch)(nil); errors.As(err, &much) {
		r.tooLarge = err
		return
	}
	told := r.count(ReasonCompression)
	if len(out) > 0 {
		r.bufs = append(r.bufs, out)
		r.scan(int32(len(r.bufs)-1), at, depth+1)
	}
	if err != nil && r.count(ReasonCompression) == told {
		r.mend(ReasonCompression, at)
	}
}

// expand gives the content of a compressed packet; with an error as much of it as can be had.
func (r *reader) expand(field uint32, data []byte) ([]byte, error) {
	in := bytes.NewReader(data)
	var from io.Reader
	if field == packetZstd {
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		from = z
	} else {
		z, err := zlib.NewReader(in)
		if err != nil {
			return nil, err
		}
		from = z
	}
	var parts [][]byte // a growing slice would be copied many times
	metered := &limits.Reader{R: from, Meter: r.packed, Packed: func() int64 { return int64(len(data) - in.Len()) }}
	for {
		part := make([]byte, 256<<10)
		n, err := 0, error(nil)
		for n < len(part) && err == nil {
			var k int
			k, err = metered.Read(part[n:])
			n += k
		}
		parts = append(parts, part[:n])
		if much := (*limits.TooMuch)(nil); errors.As(err, &much) {
			return nil, err
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return slices.Concat(parts...), err
		}
	}
}
