package inputs

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"overlay/internal/kineto"
)

// What a file unpacks to at least and about, where it does not say so: the text of a trace is packed to a tenth or a
// twentieth, and other formats become text of some times their size.
const (
	leastPacked = 8
	oftenPacked = 20
	becomesText = 4
)

// textSize is about how many bytes of text a trace file is when it is read, by what the file says of itself: 0 when it
// cannot be read.
func textSize(path string) int64 {
	f, err := Disk.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	size := info.Size()
	packed := make([]byte, zstd.HeaderMaxSize)
	n, _ := f.ReadAt(packed, 0)
	switch kineto.Sniff(packed[:n]) {
	case kineto.Gzip:
		// The last four bytes hold the length of the last member, of the lower 32 bits of it.
		var last [4]byte
		f.ReadAt(last[:], size-4)
		size = max(int64(binary.LittleEndian.Uint32(last[:])), leastPacked*size)
	case kineto.Zstd:
		var h zstd.Header
		if h.Decode(packed[:n]) == nil && h.HasFCS {
			size = max(int64(min(h.FrameContentSize, 1<<62)), leastPacked*size)
		} else {
			size *= oftenPacked
		}
	}
	text, err := expand(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return size
	}
	defer text.Close()
	head := make([]byte, 512)
	n, _ = io.ReadFull(text, head)
	for _, f := range otherFormats {
		if f.is(head[:n]) {
			return size * becomesText
		}
	}
	return size
}
