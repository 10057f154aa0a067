package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"overlay/internal/testtrace/corpus"
)

// TestQuickBuild: the first build of a newcomer compiles nothing of what it leaves out, and says how to get that.
func TestQuickBuild(t *testing.T) {
	list, err := exec.Command("go", "list", "-tags", "quick", "-deps", ".").Output()
	if err != nil {
		t.Skip("needs the go command: ", err)
	}
	if found := slices.DeleteFunc(strings.Fields(string(list)), func(p string) bool {
		return !strings.Contains(p, "sqlite") && !strings.Contains(p, "parquet") && !strings.Contains(p, "modelcontextprotocol")
	}); len(found) > 0 {
		t.Errorf("the quick build compiles %s", found)
	}
	corpus.Heavy(t)
	dir := t.TempDir()
	bin, base := filepath.Join(dir, "overlay"), filepath.Join(dir, "nsys.sqlite")
	if out, err := exec.Command("go", "build", "-tags", "quick", "-buildvcs=false", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(base, []byte("SQLite format 3\x00"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"query", "select 1", "x"}, {"export", "-i", "x", "-o", "y"}, {"mcp", "--root", "."}, {"report", "-i", base}} {
		out, err := exec.Command(bin, args...).CombinedOutput()
		if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "'make build' makes the whole program") {
			t.Errorf("overlay %q: %v: %s", args, err, out)
		}
	}
}
