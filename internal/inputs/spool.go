package inputs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"syscall"

	"overlay/internal/kineto"
)

// spoolRoom is how much of a decompressed input stays in memory at most; the rest goes to a temporary file.
const spoolRoom = 4 << 30

// RoomFor is the room of a spool in a container of so much memory (0 for no limit). A quarter leaves the rest to the
// analysis; pages of a file, which the kernel may take back, do not need room.
func RoomFor(container int64) int64 {
	room := int64(spoolRoom)
	if container > 0 {
		room = min(room, container/4)
	}
	return min(room, math.MaxInt/2) // on 32 bits
}

// spool keeps bytes in memory as long as they fit, then in a temporary file without a name, which is mapped.
//
// The memory is a stretch of addresses that is reserved at once and gets pages as it is written: nothing is ever copied
// to grow. Where a system has no such thing, it is a slice.
type spool struct {
	b        []byte // what was written, while there is no file
	reserved []byte // the whole stretch, nil when there is none
	room     int64
	file     *os.File
	size     int64
}

func newSpool(room int64) *spool {
	s := &spool{room: room}
	if r, err := reserve(int(room)); err == nil {
		s.reserved, s.b = r, r[:0]
	}
	return s
}

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.file == nil {
		if s.size <= s.room {
			s.b = append(s.b, p...)
			return len(p), nil
		}
		if err := s.spill(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(p)
	return n, spoolError(err)
}

// spill moves what is in memory to a file and gives the memory back.
func (s *spool) spill() error {
	f, err := os.CreateTemp("", "overlay-*.json")
	if err != nil {
		return spoolError(err)
	}
	os.Remove(f.Name())
	s.file = f
	if _, err := f.Write(s.b); err != nil {
		return spoolError(err)
	}
	s.free()
	return nil
}

func (s *spool) free() {
	if s.reserved != nil {
		release(s.reserved)
	}
	s.b, s.reserved = nil, nil
}

// drop gives up what was written.
func (s *spool) drop() {
	s.free()
	if s.file != nil {
		s.file.Close()
	}
}

// Bytes returns all that was written. They stay valid until the program ends.
func (s *spool) Bytes() ([]byte, error) {
	if s.file == nil {
		return s.b, nil
	}
	defer s.file.Close()
	return mapFile(s.file, s.size)
}

// mapped is what to give back to the system when src, the bytes of the spool, is done with; nil for memory that the
// collector knows.
func (s *spool) mapped(src []byte) []byte {
	if s.file != nil {
		return src
	}
	return s.reserved
}

// spoolError says what stands in the way of a temporary file.
func spoolError(err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("no space left in %s for the decompressed input: name a folder with more in TMPDIR", os.TempDir())
	}
	return fmt.Errorf("cannot keep the decompressed input in %s: %w", os.TempDir(), err)
}

var _ kineto.Spool = (*spool)(nil)
