package container

import (
	"strings"
	"testing"
	"time"
)

// TestOutputInMemory: a container that outputs in memory fill is noticed.
func TestOutputInMemory(t *testing.T) {
	var w Work
	w.Written.Store(1 << 50)
	select {
	case err := <-Watch(1<<50, &w, func() {}):
		if !strings.Contains(err.Error(), "the output, which lies in memory: choose a folder on a disk with -o") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("a container full of output is not noticed")
	}
}
