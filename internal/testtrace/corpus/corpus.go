// Package corpus finds the files that tests read: those of the project, and real traces, which are not part of it. It
// imports nothing of the module, so that every package's tests can use it.
package corpus

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Root is the folder of the project.
func Root(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("no go.mod above the working folder")
		}
		dir = up
	}
}

// Demo is the path of the project's own trace.
func Demo(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(Root(tb), "testdata", "demo.json.gz")
}

// Text is what a file holds that gzip packed.
func Text(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	return text
}

// Listed are the names of what is in a folder, by name.
func Listed(tb testing.TB, dir string) string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Dir is the folder of real traces: OVERLAY_CORPUS, by default ../shared/traces beside the project.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("OVERLAY_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "shared", "traces")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(Root(tb), dir)
	}
	return dir
}

// Long says whether the heavy loops were asked for: OVERLAY_LONG=1, as in make check.
func Long() bool { return os.Getenv("OVERLAY_LONG") != "" }

// Rounds is how often a loop goes round: fewer times unless the heavy loops were asked for.
func Rounds(quick, long int) int {
	if Long() {
		return long
	}
	return quick
}

// Heavy skips a test that takes long, with a word, unless the heavy loops were asked for.
func Heavy(tb testing.TB) {
	tb.Helper()
	if !Long() {
		tb.Skip("takes long: OVERLAY_LONG=1 runs it")
	}
}

// Small says whether a file is there and small enough for a loop that is not heavy.
func Small(path string) bool { return below(path, 300_000) }

func below(path string, size int64) bool {
	info, err := os.Stat(path)
	return err == nil && (info.Size() < size || Long())
}

// Find returns the real traces that match one of the patterns, by default all; none when they are not at hand. A pattern that
// is no name leaves out large traces unless the heavy loops were asked for: eleven take longer than all others, and many tests ask.
func Find(tb testing.TB, patterns ...string) []string {
	tb.Helper()
	if len(patterns) == 0 {
		patterns = []string{"*.json.gz", "odd/*.json.gz"}
	}
	var files []string
	for _, p := range patterns {
		m, err := filepath.Glob(filepath.Join(Dir(tb), p))
		if err != nil {
			tb.Fatal(err)
		}
		for _, file := range m {
			if !strings.Contains(p, "*") || below(file, 100_000) {
				files = append(files, file)
			}
		}
	}
	return files
}

// Files is Find for tests that need real traces: they are skipped, with a word, where there are none.
func Files(tb testing.TB, patterns ...string) []string {
	tb.Helper()
	files := Find(tb, patterns...)
	if len(files) == 0 {
		tb.Skipf("no real traces in %s: set OVERLAY_CORPUS to run this test", Dir(tb))
	}
	return files
}

// WorldDir is the folder of real files of other writers, whether it is there or not.
func WorldDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("OVERLAY_WORLD")
	if dir == "" {
		dir = filepath.Join("..", "shared", "world")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(Root(tb), dir)
	}
	return dir
}

// World is the path of a real file of another writer, in OVERLAY_WORLD, by default ../shared/world beside the project. The
// test is skipped, with a word, where it is not at hand.
func World(tb testing.TB, name string) string {
	tb.Helper()
	file := filepath.Join(WorldDir(tb), name)
	if _, err := os.Stat(file); err != nil {
		tb.Skipf("no %s: set OVERLAY_WORLD to the folder of real files of other writers to run this test", file)
	}
	return file
}
