package testtrace

import (
	"bytes"
	"os"
	"testing"
)

// The committed demo trace must be what the generator writes, and small enough for a repository.
func TestDemoIsUpToDate(t *testing.T) {
	got, err := Demo()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../../testdata/demo.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("testdata/demo.json.gz is out of date: go run ./internal/testtrace/cmd/demo -o testdata/demo.json.gz")
	}
	if len(got) > 200_000 {
		t.Errorf("the demo trace has %d bytes", len(got))
	}
}
