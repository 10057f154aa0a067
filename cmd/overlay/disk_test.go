package main

import (
	"go/ast"
	goparser "go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneDisk: inputs are opened by way of inputs.Disk, so that an agent's process can open none beside its roots. The files named here
// open outputs, what the system says of itself, or the roots.
func TestOneDisk(t *testing.T) {
	others := []string{"app.go", "files.go", "lend_linux.go", "mcp.go", "memory.go", "watch.go", "../../internal/inputs/disk.go"}
	openers := []string{"os.Open", "os.OpenFile", "os.OpenRoot", "os.Stat", "os.Lstat", "os.ReadDir", "os.ReadFile", "os.Readlink", "os.DirFS", "filepath.Glob", "filepath.Walk", "filepath.WalkDir", "filepath.EvalSymlinks", "ioutil.ReadFile"}
	list, err := filepath.Glob("*.go")
	more, err2 := filepath.Glob("../../internal/inputs/*.go")
	if list = append(list, more...); err != nil || err2 != nil || len(list) < 70 || len(more) < 10 {
		t.Fatal(err, err2, len(list))
	}
	for _, name := range list {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(others, name) {
			continue
		}
		fset := token.NewFileSet()
		f, err := goparser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && slices.Contains(openers, x.Name+"."+s.Sel.Name) {
					t.Errorf("%v: %s.%s: inputs are read by way of inputs.Disk", fset.Position(n.Pos()), x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}
