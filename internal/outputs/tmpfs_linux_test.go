package outputs

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// TestOutputInMemory: bytes that go to a tmpfs are counted.
func TestOutputInMemory(t *testing.T) {
	if f, err := os.Open("/proc/self/stat"); err == nil {
		defer f.Close()
		if InMemory(f) {
			t.Error("a file of /proc is taken for one in memory")
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	if !strings.Contains(string(mounts), " /dev/shm tmpfs ") {
		t.Skip("/dev/shm is no tmpfs")
	}
	dir, err := os.MkdirTemp("/dev/shm", "overlay-test-")
	if err != nil {
		t.Skip("nothing can be written to /dev/shm: ", err)
	}
	defer os.RemoveAll(dir)
	var held atomic.Int64
	o := Outputs{Held: &held}
	defer o.Abandon()
	out, err := o.Create(dir + "/x.json")
	if err != nil {
		t.Fatal(err)
	}
	if !InMemory(out.file) {
		t.Error("a file of a tmpfs is not taken for one in memory")
	}
	if _, err := out.Write(make([]byte, 1000)); err != nil || held.Load() != 1000 {
		t.Errorf("%d bytes counted, %v", held.Load(), err)
	}
}
