// Package internal holds no code, only the test of what may import what.
package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers says which packages of this module a package may import. A new package needs a line. A line holds for the
// packages below it too, as far as they have none of their own; packages of one line may import each other. "internal"
// stands for all. What is not needed is not allowed either. Tests may import anything.
var layers = map[string][]string{
	"internal/trace":              {},
	"internal/par":                {},
	"internal/buildinfo":          {},
	"internal/limits":             {},
	"internal/stat":               {},
	"internal/vendors":            {"internal/trace"},
	"internal/kineto":             {"internal/limits", "internal/trace", "internal/vendors", "internal/par"},
	"internal/frompftrace":        {"internal/limits", "internal/trace", "internal/vendors", "internal/par", "internal/kineto", "internal/kinetotext", "internal/chrome", "internal/wire"},
	"internal/kinetotext":         {"internal/limits", "internal/trace", "internal/vendors", "internal/kineto", "internal/chrome"},
	"internal/fromsqlite":         {"internal/limits", "internal/trace", "internal/vendors", "internal/kineto", "internal/kinetotext"},
	"internal/coarse":             {"internal/par", "internal/stat", "internal/critpath", "internal/ranks"},
	"internal/flights":            {},
	"internal/unpickle":           {},
	"internal/fromflights":        {"internal/flights", "internal/unpickle"},
	"internal/fromsnapshot":       {"internal/memory", "internal/unpickle", "internal/critpath"},
	"internal/fromrecords":        {"internal/trace", "internal/kineto", "internal/parquetfile", "internal/coarse"},
	"internal/fromrocprof":        {"internal/trace", "internal/vendors", "internal/kineto", "internal/kinetotext"},
	"internal/fromxplane":         {"internal/trace", "internal/vendors", "internal/kineto", "internal/kinetotext", "internal/wire"},
	"internal/perfetto":           {"internal/par"},
	"internal/chrome":             {"internal/par"},
	"internal/wire":               {},
	"internal/pgzip":              {},
	"internal/tables":             {},
	"internal/columns":            {"internal/tables"},
	"internal/parquetfile":        {"internal/columns", "internal/limits"},
	"internal/sqlquery":           {"internal/limits", "internal/stat", "internal/tables", "internal/columns"},
	"internal/clock":              {"internal/trace", "internal/vendors"},
	"internal/cdg":                {"internal/clock", "internal/stat", "internal/trace", "internal/vendors", "internal/par"},
	"internal/cdg/phases":         {"internal/trace", "internal/vendors", "internal/cdg"},
	"internal/cdg/nodes":          {"internal/trace", "internal/cdg", "internal/cdg/phases"},
	"internal/graph":              {"internal/trace", "internal/cdg", "internal/cdg/phases", "internal/cdg/nodes", "internal/par"},
	"internal/critpath":           {"internal/trace", "internal/vendors", "internal/cdg", "internal/cdg/phases", "internal/cdg/nodes", "internal/graph", "internal/par"},
	"internal/ranks":              {"internal/stat", "internal/tables", "internal/roofline", "internal/trace", "internal/vendors", "internal/cdg", "internal/graph", "internal/critpath", "internal/par"},
	"internal/roofline":           {"internal/trace", "internal/vendors", "internal/cdg", "internal/graph"},
	"internal/memory":             {"internal/trace", "internal/cdg", "internal/graph", "internal/critpath"},
	"internal/analyses":           {"internal/memory", "internal/stat", "internal/roofline", "internal/trace", "internal/vendors", "internal/cdg", "internal/graph", "internal/critpath", "internal/tables"},
	"internal/ranks/replay":       {"internal/stat", "internal/trace", "internal/par", "internal/cdg", "internal/graph", "internal/critpath", "internal/whatif", "internal/ranks"},
	"internal/ranks/parts":        {"internal/trace", "internal/critpath", "internal/ranks", "internal/columns", "internal/tables"},
	"internal/history":            {"internal/stat", "internal/par", "internal/critpath", "internal/ranks", "internal/columns", "internal/tables", "internal/report", "internal/report/page"},
	"internal/ranks/roster":       {"internal/trace"},
	"internal/whatif":             {"internal/trace", "internal/vendors", "internal/par", "internal/cdg", "internal/cdg/phases", "internal/graph", "internal/critpath"},
	"internal/capture":            {"internal/trace", "internal/vendors", "internal/cdg", "internal/critpath"},
	"internal/serving":            {"internal/stat", "internal/roofline", "internal/trace", "internal/vendors", "internal/cdg", "internal/graph", "internal/critpath", "internal/whatif"},
	"internal/verdict":            {"internal/trace", "internal/vendors", "internal/cdg", "internal/critpath", "internal/tables"},
	"internal/advise":             {"internal/verdict", "internal/stat", "internal/roofline", "internal/trace", "internal/vendors", "internal/par", "internal/cdg", "internal/graph", "internal/critpath", "internal/whatif", "internal/tables"},
	"internal/advise/jobadvice":   {"internal/advise", "internal/ranks", "internal/ranks/replay", "internal/ranks/roster", "internal/critpath", "internal/tables"},
	"internal/overlay":            {"internal/verdict", "internal/flame", "internal/trace", "internal/cdg", "internal/cdg/phases", "internal/cdg/nodes", "internal/graph", "internal/critpath", "internal/analyses", "internal/advise", "internal/tables", "internal/par"},
	"internal/overlay/manyranks":  {"internal/trace", "internal/critpath", "internal/ranks", "internal/ranks/replay", "internal/overlay", "internal/tables"},
	"internal/overlay/pftrace":    {"internal/trace", "internal/vendors", "internal/analyses", "internal/overlay", "internal/perfetto", "internal/par"},
	"internal/overlay/chromejson": {"internal/trace", "internal/overlay", "internal/chrome", "internal/kineto"},
	"internal/relations":          {"internal/trace", "internal/vendors", "internal/cdg", "internal/cdg/phases", "internal/cdg/nodes", "internal/graph", "internal/critpath", "internal/tables", "internal/columns"},
	"internal/flame":              {"internal/trace", "internal/cdg", "internal/graph", "internal/critpath", "internal/pgzip"},
	"internal/slim":               {"internal/trace", "internal/clock", "internal/cdg", "internal/graph", "internal/critpath", "internal/overlay"},
	"internal/anonymize":          {"internal/trace", "internal/vendors", "internal/kineto", "internal/cdg", "internal/graph", "internal/critpath", "internal/overlay", "internal/chrome"},
	"internal/report":             {"internal/memory", "internal/coarse", "internal/flights", "internal/verdict", "internal/serving", "internal/clock", "internal/stat", "internal/trace", "internal/vendors", "internal/cdg", "internal/cdg/nodes", "internal/cdg/phases", "internal/graph", "internal/critpath", "internal/analyses", "internal/whatif", "internal/advise", "internal/advise/jobadvice", "internal/ranks", "internal/ranks/replay", "internal/ranks/roster", "internal/tables", "internal/par"},
	"internal/report/page":        {"internal/flame", "internal/stat", "internal/trace", "internal/critpath", "internal/ranks", "internal/ranks/replay", "internal/tables", "internal/report"},
	"internal/pipeline": {"internal/memory", "internal/clock", "internal/trace", "internal/cdg", "internal/graph", "internal/critpath", "internal/analyses", "internal/whatif", "internal/advise", "internal/ranks", "internal/ranks/replay", "internal/report", "internal/relations", "internal/columns", "internal/flame", "internal/overlay", "internal/overlay/manyranks", "internal/overlay/pftrace",
		"internal/overlay/chromejson", "internal/slim", "internal/par"},
	"internal/nearest":   {},
	"internal/outputs":   {},
	"internal/container": {"internal/outputs", "internal/tables"},
	"internal/agents":    {"internal/limits", "internal/inputs", "internal/nearest", "internal/ranks/roster", "internal/sqlquery", "internal/tables"},
	"internal/inputs":    {"internal/flights", "internal/fromflights", "internal/fromsnapshot", "internal/memory", "internal/limits", "internal/trace", "internal/vendors", "internal/kineto", "internal/frompftrace", "internal/fromrecords", "internal/fromrocprof", "internal/fromsqlite", "internal/fromxplane", "internal/ranks/parts", "internal/ranks/roster", "internal/report", "internal/tables"},
	"internal/testtrace": {"internal"},
	"bench":              {"internal/tables"},
	"cmd":                {"internal"},
	"proto":              {},
}

// worldly are packages of the standard library by which code touches the world: only cmd, what opens its inputs and what writes its outputs may.
var worldly = []string{"os", "log", "flag", "net", "syscall", "plugin"}

// worldlyCalls do so without an import that betrays them.
var worldlyCalls = []string{"fmt.Print", "fmt.Printf", "fmt.Println", "time.Now", "time.Since", "time.Sleep"}

// mayTouchWorld are the exceptions: commands, what asks how much memory there is, what finds and opens their inputs, what puts their outputs in place, and tools for tests.
var mayTouchWorld = []string{"bench", "cmd", "internal/container", "internal/inputs", "internal/outputs", "internal/testtrace"}

// module is the path of this module, which stands in front of the packages' own.
var module = func() string {
	b, err := os.ReadFile("../go.mod")
	if err != nil {
		panic(err)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(string(b), "module "), "\n")
	return name
}()

// TestLayers checks the import table on every Go file of the module that is no test.
func TestLayers(t *testing.T) {
	root := os.DirFS("..")
	checked := 0
	used := map[[2]string]bool{} // lines whose packages import one of the other
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		checked++
		for _, v := range violations(name, src) {
			t.Error(v)
		}
		if f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ImportsOnly); err == nil {
			line, _ := layerOf(path.Dir(name))
			for _, imp := range f.Imports {
				own, _ := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module+"/")
				target, _ := layerOf(own)
				used[[2]string{line, target}] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, targets := range layers {
		for _, target := range targets {
			if target != "internal" && !used[[2]string{line, target}] {
				t.Errorf("%s may import %s and does not: take it out of the table", line, target)
			}
		}
	}
	if checked < 10 {
		t.Fatalf("only %d files found: is the test run from its folder?", checked)
	}
}

// TestPlantedImports shows that the check finds what it is for.
func TestPlantedImports(t *testing.T) {
	for _, c := range []struct {
		file, src string
		want      string // part of the one violation, "" for none
	}{
		{"internal/kineto/a.go", `import "overlay/internal/cdg"`, "internal/kineto must not import internal/cdg"},
		{"internal/perfetto/a.go", `import "overlay/internal/kineto"`, "must not import internal/kineto"},
		{"internal/cdg/a.go", `import "overlay/internal/critpath"`, "must not import internal/critpath"},
		{"internal/cdg/a.go", `import "overlay/internal/kineto"`, "must not import internal/kineto"},
		{"internal/cdg/a.go", `import "overlay/internal/trace"`, ""},
		{"internal/cdg/a.go", `import "overlay/internal/cdg/phases"`, "must not import internal/cdg/phases"},
		{"internal/cdg/phases/a.go", `import "overlay/internal/cdg/nodes"`, "must not import internal/cdg/nodes"},
		{"internal/critpath/hta/a.go", `import "overlay/internal/critpath"`, ""},
		{"internal/critpath/hta/a.go", `import "overlay/internal/overlay"`, "must not import internal/overlay"},
		{"internal/cdg/a.go", `import "overlay/internal/testtrace"`, "must not import internal/testtrace"},
		{"internal/overlay/a.go", `import "overlay/cmd/overlay"`, "must not import cmd/overlay"},
		{"internal/overlay/a.go", `import "overlay/internal/overlay/pftrace"`, "must not import internal/overlay/pftrace"},
		{"internal/overlay/pftrace/a.go", `import "overlay/internal/overlay"`, ""},
		{"internal/report/a.go", `import "overlay/internal/overlay/pftrace"`, "must not import internal/overlay/pftrace"},
		{"internal/novelty/a.go", `import "fmt"`, "internal/novelty has no line"},
		{"internal/report/a.go", `import "overlay/internal/overlay"`, "must not import internal/overlay"},
		{"internal/tables/a.go", `import "overlay/internal/report"`, "must not import internal/report"},
		{"internal/report/a.go", `import "unsafe"`, `import "unsafe" stays`},
		{"internal/report/a.go", `import "os"`, `touches the world: import "os"`},
		{"internal/report/a.go", `import "log/slog"`, `touches the world: import "log/slog"`},
		{"internal/report/a.go", `import "net/http"`, `touches the world: import "net/http"`},
		{"internal/report/a.go", `import "fmt"; func f() { fmt.Println() }`, "touches the world: fmt.Println"},
		{"internal/report/a.go", `import "time"; var t = time.Now()`, "touches the world: time.Now"},
		{"internal/report/a.go", `import "time"; const t = time.Second`, ""},
		{"internal/testtrace/cmd/demo/main.go", `import "os"`, ""},
		{"cmd/overlay/a.go", `import "os"; import "overlay/internal/report"`, ""},
	} {
		got := violations(c.file, []byte("package p\n"+c.src))
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%s with %s: unexpected %q", c.file, c.src, got)
		case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
			t.Errorf("%s with %s: got %q, want one with %q", c.file, c.src, got, c.want)
		}
	}
}

// violations lists what a file does against the table.
func violations(file string, src []byte) (list []string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.FromSlash(file), src, parser.SkipObjectResolution)
	if err != nil {
		return []string{err.Error()}
	}
	pkg := path.Dir(file)
	line, ok := layerOf(pkg)
	if !ok {
		return []string{fmt.Sprintf("%s has no line in the import table of internal/layering_test.go", pkg)}
	}
	world := slices.ContainsFunc(mayTouchWorld, func(p string) bool { return within(pkg, p) })
	for _, imp := range f.Imports {
		name, _ := strconv.Unquote(imp.Path.Value)
		if own, ok := strings.CutPrefix(name, module+"/"); ok {
			target, _ := layerOf(own)
			if target != line && !slices.ContainsFunc(layers[line], func(p string) bool { return p == target || p == "internal" && within(own, p) }) {
				list = append(list, fmt.Sprintf("%s: %s must not import %s", file, pkg, own))
			}
			continue
		}
		if name == "unsafe" && file != "internal/trace/lend.go" && !strings.HasSuffix(file, ".pb.go") {
			list = append(list, file+`: import "unsafe" stays in internal/trace/lend.go`)
		}
		if !world && slices.ContainsFunc(worldly, func(p string) bool { return within(name, p) }) {
			list = append(list, fmt.Sprintf("%s: touches the world: import %q", file, name))
		}
	}
	if !world {
		list = append(list, calls(file, f)...)
	}
	return list
}

// calls lists the worldly calls of a file.
func calls(file string, f *ast.File) (list []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(worldlyCalls, x.Name+"."+sel.Sel.Name) {
				list = append(list, fmt.Sprintf("%s: touches the world: %s.%s", file, x.Name, sel.Sel.Name))
			}
		}
		return true
	})
	return list
}

// layerOf finds the line that holds for a package: its own or that of the nearest package above it.
func layerOf(pkg string) (string, bool) {
	for p := pkg; p != "."; p = path.Dir(p) {
		if _, ok := layers[p]; ok {
			return p, true
		}
	}
	return "", false
}

// within reports whether package p is q or below q.
func within(p, q string) bool { return p == q || strings.HasPrefix(p, q+"/") }
