// Command mutate says whether tests bite: it changes single conditions of the product's code, one at a time, and runs the
// tests of that package alone.
//
//	go run ./bench/mutate [-n 60] [-seed 1] [-under internal/cdg]
//
// Places are drawn by the seed: comparisons, && and ||, and what is one more or less. A change is killed when a test
// fails or takes over five minutes. Survivors are printed with their place; some of these are equivalent to what
// stood there. The status is 1 when less than 80 % are killed. The working tree is not touched.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"overlay/internal/tables"
)

// other is what stands for an operator in the changed code.
var other = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// place is an operator in a file.
type place struct {
	file       string
	line       int
	offset     int // of the operator, in bytes
	was, is    token.Token
	expression string
}

func main() {
	n := flag.Int("n", 60, "number of changes")
	seed := flag.Uint64("seed", 1, "by which places are drawn")
	under := flag.String("under", "internal", "folder whose code is changed")
	flag.Parse()
	places, err := find(*under)
	if err != nil || len(places) == 0 {
		fmt.Fprintln(os.Stderr, "mutate: nothing to change:", err)
		os.Exit(2)
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	killed, survived := 0, 0
	for _, p := range places[:min(*n, len(places))] {
		began := time.Now()
		alive, err := p.try()
		if err != nil {
			fmt.Println("not tried:", p.file, err)
			continue
		}
		if alive {
			survived++
			fmt.Printf("survives  %s:%d: %s, not %s, in %s\n", p.file, p.line, p.is, p.was, p.expression)
		} else {
			killed++
		}
		fmt.Printf("%3d killed, %d survive; %s, %v\n", killed, survived, filepath.Dir(p.file), time.Since(began).Round(time.Second))
	}
	fmt.Printf("%d of %d killed, %s\n", killed, killed+survived, tables.WholePercent(int64(killed), int64(max(1, killed+survived))))
	if 100*killed < 80*(killed+survived) {
		os.Exit(1)
	}
}

// find lists the operators of the product's code: no tests, nothing generated, nothing that only tests use.
func find(under string) ([]place, error) {
	var places []place
	err := filepath.WalkDir(under, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testtrace" || d.Name() == "proof" || d.Name() == "pb" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, src, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			e, ok := node.(*ast.BinaryExpr)
			if !ok {
				return true
			}
			is, ok := other[e.Op]
			if lit, isLit := e.Y.(*ast.BasicLit); (e.Op == token.ADD || e.Op == token.SUB) && (!isLit || lit.Value != "1") {
				ok = false
			}
			if ok {
				at := set.Position(e.OpPos)
				text := src[set.Position(e.Pos()).Offset:set.Position(e.End()).Offset]
				text, _, _ = bytes.Cut(text, []byte("\n"))
				places = append(places, place{path, at.Line, at.Offset, e.Op, is, string(text)})
			}
			return true
		})
		return nil
	})
	return places, err
}

// try runs the tests of the package with the change, and says whether all of them pass. A change that does not compile is an error.
func (p place) try() (alive bool, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	src, err := os.ReadFile(p.file)
	if err != nil {
		return false, err
	}
	changed := string(src[:p.offset]) + p.is.String() + string(src[p.offset+len(p.was.String()):])
	name, err := filepath.Abs(p.file)
	if err != nil {
		return false, err
	}
	instead := filepath.Join(dir, "changed.go")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{name: instead}})
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(instead, []byte(changed), 0o666); err != nil {
		return false, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, replace, 0o666); err != nil {
		return false, err
	}
	pkg := "./" + filepath.Dir(p.file)
	if out, err := exec.Command("go", "build", "-overlay", overlay, pkg).CombinedOutput(); err != nil {
		return false, fmt.Errorf("does not compile: %s", bytes.TrimSpace(out))
	}
	return exec.Command("go", "test", "-overlay", overlay, "-short", "-vet=off", "-timeout", "5m", pkg).Run() == nil, nil
}
