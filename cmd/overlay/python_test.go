package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// TestPython runs the tests of the Python side, with this program as the one that it finds.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "overlay") // under this name TestMain makes the program of the test
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "python", "-v")
	cmd.Dir = corpus.Root(t)
	cmd.Env = append(os.Environ(), "OVERLAY="+program)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("TestHandler.test_real_program) ... ok")) {
		t.Errorf("%v\n%s", err, out)
	}
}
