package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// Scripts of the project that run the program from outside, on the program of the test.

// programFile is this program as a file.
func programFile(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "overlay") // under this name TestMain makes the program of the test
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestPython runs the tests of the Python side.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	cmd := exec.Command(python, "-B", "-m", "unittest", "discover", "python", "-v")
	cmd.Dir = corpus.Root(t)
	cmd.Env = append(os.Environ(), "OVERLAY="+programFile(t))
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("TestHandler.test_real_program) ... ok")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompareScript: what continuous integration runs leaves a comment and a picture, and ends as `overlay diff` does.
func TestCompareScript(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	demo := corpus.Demo(t)
	for _, c := range []struct {
		after   string
		status  int
		comment string
		picture bool
	}{
		{demo, 0, "### ⚪ `demo.json.gz`: as long as before\n", true},
		{"missing.json", 1, "overlay could not compare the traces: see the log.\n", false},
	} {
		folder := filepath.Join(t.TempDir(), "out")
		cmd := exec.Command("sh", filepath.Join(corpus.Root(t), "ci", "compare.sh"), demo, c.after, "5", folder)
		cmd.Env = append(os.Environ(), "OVERLAY="+programFile(t))
		cmd.Dir = t.TempDir()
		err := cmd.Run()
		var exit *exec.ExitError
		if status := cmd.ProcessState.ExitCode(); status != c.status || err != nil && !errors.As(err, &exit) {
			t.Errorf("%s: status %d, %v", c.after, status, err)
		}
		comment, err := os.ReadFile(filepath.Join(folder, "comment.md"))
		if err != nil || !bytes.HasPrefix(comment, []byte(c.comment)) {
			t.Errorf("%s: %v, %q", c.after, err, comment)
		}
		if _, err := os.Stat(filepath.Join(folder, "paths.svg")); (err == nil) != c.picture {
			t.Errorf("%s: picture %v", c.after, err)
		}
	}
}
