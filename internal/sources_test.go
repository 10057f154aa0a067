package internal

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// programFiles calls visit for the Go files of the program, tests and generated ones left out, and those of some folders.
func programFiles(t *testing.T, without []string, visit func(name string, src []byte)) {
	t.Helper()
	root := os.DirFS("..")
	checked := 0
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			skip := strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata"
			for _, w := range without {
				skip = skip || name == w
			}
			if skip {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		checked++
		visit(name, src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Fatalf("only %d files found: is the test run from its folder?", checked)
	}
}
