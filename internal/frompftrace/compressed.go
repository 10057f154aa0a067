package frompftrace

import (
	"bytes"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// compressed expands the packets of a packet that holds others.
func (r *reader) compressed(field uint32, data []byte, at int64, depth int) {
	if depth >= maxCompressedDepth {
		r.mend(ReasonCompression, at)
		return
	}
	var out bytes.Buffer
	limit := r.maxExpand - r.expanded
	var err error
	if field == packetZstd {
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(1<<27)); err == nil {
			err = copyUpTo(&out, z, limit)
			z.Close()
		}
	} else if z, e := zlib.NewReader(bytes.NewReader(data)); e == nil {
		err = copyUpTo(&out, z, limit)
	} else {
		err = e
	}
	r.expanded += int64(out.Len())
	if r.expanded > r.maxExpand {
		r.tooLarge = true
		return
	}
	told := r.count(ReasonCompression)
	if out.Len() > 0 {
		r.bufs = append(r.bufs, out.Bytes())
		r.scan(int32(len(r.bufs)-1), at, depth+1)
	}
	if err != nil && r.count(ReasonCompression) == told {
		r.mend(ReasonCompression, at)
	}
}
