package main

import (
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestOutputInMemory: bytes that go to a tmpfs are counted, and a container that they fill is noticed.
func TestOutputInMemory(t *testing.T) {
	if f, err := os.Open("/proc/self/stat"); err == nil {
		defer f.Close()
		if liesInMemory(f) {
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
	o := outputs{inMemory: &held}
	defer o.abandon()
	out, err := o.create(dir + "/x.json")
	if err != nil {
		t.Fatal(err)
	}
	if !liesInMemory(out.file) {
		t.Error("a file of a tmpfs is not taken for one in memory")
	}
	if _, err := out.Write(make([]byte, 1000)); err != nil || held.Load() != 1000 {
		t.Errorf("%d bytes counted, %v", held.Load(), err)
	}
	var w workSize
	w.written.Store(1 << 50)
	select {
	case err := <-watchMemory(1<<50, &w, func() {}):
		if !strings.Contains(err.Error(), "the output, which lies in memory: choose a folder on a disk with -o") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a container full of output is not noticed")
	}
}
