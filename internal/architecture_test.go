package internal

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var named = regexp.MustCompile("`([a-zA-Z0-9_./-]+)`")

// TestArchitectureNamesFiles: every file and folder that ARCHITECTURE.md names is there, and every package of the module stands in its map.
func TestArchitectureNamesFiles(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	there, packages := map[string]bool{}, map[string]bool{}
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(d.Name(), ".git") {
			return err
		}
		name = filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(name), "../"))
		for rest := name; rest != "."; rest = tail(rest) { // a file may be named by the end of its path
			there[rest] = true
		}
		if strings.HasSuffix(name, ".go") && strings.HasPrefix(name, "internal/") && path.Dir(name) != "internal" && !strings.Contains(name, "testtrace/") && !strings.Contains(name, "testdata/") {
			packages[path.Base(path.Dir(name))] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range named.FindAllStringSubmatch(string(text), -1) {
		if name := strings.TrimSuffix(m[1], "/"); (strings.HasSuffix(name, ".go") || strings.Contains(name, "/")) && !there[name] {
			t.Errorf("%s is named and not there", m[1])
		}
	}
	_, plan, _ := strings.Cut(string(text), "## The map")
	plan, _, _ = strings.Cut(plan, "## Where")
	for name := range packages {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(plan) {
			t.Errorf("package %s is not on the map", name)
		}
	}
}

// tail is a path without its first part, "." when it has one part alone.
func tail(name string) string {
	_, rest, ok := strings.Cut(name, "/")
	if !ok {
		return "."
	}
	return rest
}
