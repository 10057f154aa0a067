package testtrace

import (
	"os/exec"
	"testing"
)

// TestCaptureKit runs the tests of the capture kit that need no torch.
func TestCaptureKit(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: the capture kit is not tested")
	}
	cmd := exec.Command(python, "-B", "-m", "unittest", "capture_test")
	cmd.Dir = "../../testdata/capture"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
