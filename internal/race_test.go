package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRace: `make race` finds every file that starts goroutines by its text, and names no test that is gone.
func TestRace(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`grep -rlE '([^']+)'`).FindSubmatch(makefile)
	if pattern == nil {
		t.Fatal("the Makefile has no pattern of files that start goroutines")
	}
	found := regexp.MustCompile(string(pattern[1]))
	programFiles(t, []string{"internal/testtrace", "bench", "fleet"}, func(name string, src []byte) {
		if starts(t, src) && !found.Match(src) {
			t.Errorf("%s starts goroutines, and make race does not see it: write the pattern of the Makefile anew", name)
		}
	})
	var tests []string
	for _, glob := range []string{"../cmd/*/*_test.go", "*/*_test.go", "*/*/*_test.go", "*/*/*/*_test.go"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(src, -1) {
				tests = append(tests, string(m[1]))
			}
		}
	}
	left := 0
	for _, line := range regexp.MustCompile(`(?m)^NO_RACE :?= (.*)$`).FindAllSubmatch(makefile, -1) {
		for name := range strings.SplitSeq(strings.TrimPrefix(string(line[1]), "$(NO_RACE)|"), "|") {
			left++
			if !regexp.MustCompile(`(?m)^` + name + `$`).MatchString(strings.Join(tests, "\n")) {
				t.Errorf("NO_RACE of the Makefile names %s, and there is no such test", name)
			}
		}
	}
	if left == 0 {
		t.Error("the Makefile has no list NO_RACE")
	}
}

// starts reports whether a file starts goroutines: by a statement, by a method Go, or by the package that shares work out.
func starts(t *testing.T, src []byte) (does bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Imports {
		does = does || strings.HasSuffix(i.Path.Value, `internal/par"`)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			does = true
		case *ast.SelectorExpr:
			does = does || n.Sel.Name == "Go"
		}
		return !does
	})
	return does
}
