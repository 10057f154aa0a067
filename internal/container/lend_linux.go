package container

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"overlay/internal/outputs"
)

// lendFile returns n bytes of a temporary file without a name, which is mapped until the program ends: the kernel writes its pages
// out when a container is full, where memory of the process would have to stay. nil where there is no such file.
func lendFile(n int) []byte {
	f, err := nameless()
	if err != nil {
		return nil
	}
	defer f.Close()
	if outputs.InMemory(f) || syscall.Fallocate(int(f.Fd()), 0, 0, int64(n)) != nil { // a hole would be a fault when the disk is full
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

// nameless makes a temporary file without a name: at once where the file system can, because the work may be ended at any moment, and
// what has a name then stays.
func nameless() (*os.File, error) {
	if f, err := os.OpenFile(os.TempDir(), unix.O_TMPFILE|os.O_RDWR, 0o600); err == nil {
		return f, nil
	}
	f, err := os.CreateTemp("", "overlay-*.events")
	if err == nil {
		os.Remove(f.Name())
	}
	return f, err
}
