package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// TestRealTraces runs the program over the traces that the project recorded: nothing fails, nothing is odd in what is written, and the path fills the
// window of each. One of each loop, or with OVERLAY_LONG all of them, of jobs the first rank.
func TestRealTraces(t *testing.T) {
	root := filepath.Join(corpus.Root(t), "testdata", "real")
	var files []string
	patterns := []string{"*/before.json.*", "*/before/rank0.json.*"}
	if corpus.Long() {
		patterns = []string{"*/*.json.*", "*/*/rank0.json.*"}
	}
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("%d files", len(files))
	}
	if testing.Short() { // the race detector meets the same stages in each
		files = files[:3]
	}
	call := func(args ...string) []byte {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if status := run(append([]string{"overlay"}, args...), strings.NewReader(""), &stdout, &stderr); status != 0 {
			t.Fatalf("%q: status %d: %s", args, status, stderr.Bytes())
		}
		return stdout.Bytes()
	}
	out := filepath.Join(t.TempDir(), "out.pftrace")
	for _, name := range files {
		call("run", "-i", name, "-o", out, "--quiet")
		src, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if found, err := viewed(src); err != nil || !strings.Contains(strings.Join(found, " "), " overlay.window_ns ") {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		if kineto := call("check", name, "--json"); bytes.Contains(kineto, []byte(`"reason"`)) {
			t.Errorf("%s: repairs in what a profiler wrote: %s", name, kineto)
		}
	}
}
