package parquetfile

import (
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// pageWindow is as long as a page is as a rule. The window that zstd takes by itself costs 8 MB an encoder, and the codec
// of the Parquet library makes encoders for each file.
const pageWindow = 256 << 10

// zstdCodec compresses pages at level 1. All files share its encoders.
type zstdCodec struct{}

var encoder = sync.OnceValue(func() *zstd.Encoder {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageWindow), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
	if err != nil {
		panic("parquetfile: internal error: " + err.Error())
	}
	return e
})

func (zstdCodec) String() string { return "ZSTD" }

func (zstdCodec) CompressionCodec() format.CompressionCodec { return format.Zstd }

func (zstdCodec) Encode(dst, src []byte) ([]byte, error) {
	return encoder().EncodeAll(src, dst[:0]), nil
}

// Decode is not used: files are read with the codec of the library.
func (zstdCodec) Decode([]byte, []byte) ([]byte, error) {
	panic("parquetfile: internal error: reading with the codec for writing")
}
