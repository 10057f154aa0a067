package inputs

import (
	"bufio"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Deflated hands out what a file compressed by gzip holds between header and trailer, its length, and the checksum of the text of size bytes that
// was read from the file. It reports false for any other file, and for one of several members. The trailer says how long the last member is:
// with a first member that is not empty, several are longer than the last one.
func Deflated(path string, size int64, use func(packed io.Reader, n int64, sum uint32) error) (bool, error) {
	f, err := Disk.Open(path)
	if err != nil {
		return false, nil // a member of an archive, or text that was made
	}
	defer f.Close()
	b := bufio.NewReader(f)
	z, err := gzip.NewReader(b)
	if err != nil {
		return false, nil
	}
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	from, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return false, err
	}
	from -= int64(b.Buffered())
	var end [8]byte
	n := info.Size() - int64(len(end)) - from
	if n <= 0 {
		return false, nil
	}
	if _, err := f.ReadAt(end[:], from+n); err != nil {
		return false, err
	}
	z.Multistream(false)
	if k, _ := io.ReadFull(z, make([]byte, 1)); k == 0 || binary.LittleEndian.Uint32(end[4:]) != uint32(size) {
		return false, nil
	}
	return true, use(io.NewSectionReader(f, from, n), n, binary.LittleEndian.Uint32(end[:]))
}
