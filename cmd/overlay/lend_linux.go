package main

import (
	"os"
	"syscall"
)

// lendFile returns n bytes of a temporary file without a name, which is mapped until the program ends: the kernel writes its pages
// out when a container is full, where memory of the process would have to stay. nil where there is no such file.
func lendFile(n int) []byte {
	f, err := os.CreateTemp("", "overlay-*.events")
	if err != nil {
		return nil
	}
	defer f.Close()
	os.Remove(f.Name())
	if liesInMemory(f) || syscall.Fallocate(int(f.Fd()), 0, 0, int64(n)) != nil { // a hole would be a fault when the disk is full
		return nil
	}
	b, err := syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}
