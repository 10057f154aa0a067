package container

import (
	"os"
	"syscall"
	"testing"

	"overlay/internal/outputs"
)

// TestLendFile: what is lent is all 0, can be written, and lies in a file that has no name any more; of a folder in memory nothing is.
func TestLendFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	f, err := os.CreateTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := lendFile(3 << 20)
	switch {
	case outputs.InMemory(f):
		if b != nil {
			t.Error("memory was lent of a tmpfs")
		}
		t.Skip("temporary files lie in memory here")
	case b == nil:
		t.Skip("no mapped files, or no room that can be set aside, in ", dir)
	}
	defer syscall.Munmap(b)
	for i := range b {
		if b[i] != 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
	b[0], b[len(b)-1] = 1, 2
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%d files, %v, want the one of this test", len(list), err)
	}
	t.Setenv("TMPDIR", "/dev/shm")
	if x, err := os.CreateTemp("", ""); err == nil {
		defer os.Remove(x.Name())
		defer x.Close()
		if outputs.InMemory(x) && lendFile(1<<20) != nil {
			t.Error("memory was lent of a tmpfs")
		}
	}
	t.Setenv("TMPDIR", dir+"/none")
	if lendFile(1<<20) != nil {
		t.Error("a file in a folder that is not there")
	}
}
