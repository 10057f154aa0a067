package outputs

import (
	"os"
	"syscall"
)

// The numbers of file systems that keep their files in memory, from linux/magic.h.
const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// InMemory reports whether what is written to a file stays in memory, as in /dev/shm.
func InMemory(f *os.File) bool {
	var fs syscall.Statfs_t
	if syscall.Fstatfs(int(f.Fd()), &fs) != nil {
		return false
	}
	kind := uint32(fs.Type)
	return kind == tmpfsMagic || kind == ramfsMagic
}
