// Command mutate says whether tests bite: it changes single conditions of the product's code, one at a time, and runs the
// tests of that package alone.
//
//	go run ./bench/mutate [-n 60] [-seed 1] [-under internal/cdg] [-late TestSlow]
//
// Places are drawn by the seed: comparisons, && and ||, and what is one more or less. A change is killed when a test
// fails, or they take over five times as long and ten seconds. Survivors are printed with their place; some of these are equivalent to what
// stood there. The status is 1 when less than 80 % are killed. The working tree is not touched.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	file, pkg  string
	line       int
	x, y       part // the two sides
	was, is    token.Token
	expression string
}

// part is a piece of a file, in bytes.
type part struct{ from, to int }

func main() {
	n := flag.Int("n", 60, "number of changes")
	seed := flag.Uint64("seed", 1, "by which places are drawn")
	under := flag.String("under", "internal", "folder whose code is changed")
	late := flag.String("late", "", "slow tests, as for go test -run, that are run where the others notice nothing")
	flag.Parse()
	places, err := find(*under)
	if err != nil || len(places) == 0 {
		fmt.Fprintln(os.Stderr, "mutate: nothing to change:", err)
		os.Exit(2)
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	packages := map[string][]place{}
	for _, p := range places[:min(*n, len(places))] {
		packages[filepath.Dir(p.file)] = append(packages[filepath.Dir(p.file)], p)
	}
	killed, tried := 0, 0
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		began := time.Now()
		here, survivors, err := try(dir, packages[dir], *late)
		if err != nil {
			fmt.Println("not tried:", dir, err)
			continue
		}
		for _, p := range survivors {
			fmt.Printf("survives  %s:%d: %s, not %s, in %s\n", p.file, p.line, p.is, p.was, p.expression)
		}
		killed, tried = killed+here-len(survivors), tried+here
		fmt.Printf("%3d of %d killed; %s, %v\n", here-len(survivors), here, dir, time.Since(began).Round(time.Second))
	}
	fmt.Printf("%d of %d killed, %s\n", killed, tried, tables.WholePercent(int64(killed), int64(max(1, tried))))
	if 100*killed < 80*tried {
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
			if d, is := node.(*ast.GenDecl); is && d.Tok == token.CONST {
				return false // a constant is the same in every run
			}
			if _, is := node.(*ast.ArrayType); is {
				return false // and so is a length
			}
			e, ok := node.(*ast.BinaryExpr)
			if !ok {
				return true
			}
			is, ok := other[e.Op]
			if lit, isLit := e.Y.(*ast.BasicLit); (e.Op == token.ADD || e.Op == token.SUB) && (!isLit || lit.Value != "1") {
				ok = false
			}
			if x, isBinary := e.X.(*ast.BinaryExpr); isBinary && x.Op == token.SHL { // 1<<n - 1 has the type that its place asks for
				ok = false
			}
			if ok {
				x, y := part{set.Position(e.X.Pos()).Offset, set.Position(e.X.End()).Offset}, part{set.Position(e.Y.Pos()).Offset, set.Position(e.Y.End()).Offset}
				text, _, _ := bytes.Cut(src[x.from:y.to], []byte("\n"))
				places = append(places, place{path, file.Name.Name, set.Position(e.OpPos).Line, x, y, e.Op, is, string(text)})
			}
			return true
		})
		return nil
	})
	return places, err
}

// try compiles the tests of a package once, with all changes in it, and runs them with one change at a time.
func try(pkg string, places []place, late string) (tried int, survivors []place, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "tests")
	if err := compile(pkg, places, dir, program); err != nil {
		return 0, nil, err
	}
	run := func(change int, limit time.Duration, tests ...string) bool {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		c := exec.CommandContext(ctx, program, append(tests, "-test.short", "-test.failfast")...)
		c.Dir, c.Env = pkg, append(os.Environ(), "MUTANT="+strconv.Itoa(change))
		return c.Run() == nil
	}
	began := time.Now()
	if !run(0, time.Hour) {
		return 0, nil, errors.New("the tests fail without a change")
	}
	limit := 10*time.Second + 5*time.Since(began) // a change can be a loop without an end
	for i, p := range places {
		if run(i+1, limit, "-test.skip", late) && (late == "" || run(i+1, limit, "-test.run", late)) {
			survivors = append(survivors, p)
		}
	}
	return len(places), survivors, nil
}

// compile makes the tests of a package, in which the variable MUTANT of the environment says which change is on.
// A place that cannot be changed so, as one where a constant has to stand, is an error.
func compile(pkg string, places []place, dir, program string) error {
	replace := map[string]string{}
	put := func(name, text string) error {
		abs, err := filepath.Abs(name)
		if err != nil {
			return err
		}
		replace[abs] = filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		return os.WriteFile(replace[abs], []byte(text), 0o666)
	}
	files := map[string][]int{}
	for i, p := range places {
		files[p.file] = append(files[p.file], i)
	}
	for name, here := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := put(name, switched(src, part{0, len(src)}, places, here)); err != nil {
			return err
		}
	}
	if err := put(filepath.Join(pkg, "mutant_switch.go"), "package "+places[0].pkg+switches); err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return err
	}
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", program, "./"+pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %s", bytes.TrimSpace(out))
	}
	return nil
}

const switches = `
import ("os"; "strconv")
var mutant, _ = strconv.Atoi(os.Getenv("MUTANT"))
func mutantSum[T ~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64](x T, more bool) T {
	if more { return x + 1 }
	return x - 1
}
`

// switched is a part of a file, in which each place asks whether its change is on. Places may stand inside others.
func switched(src []byte, in part, places []place, here []int) string {
	var out strings.Builder
	at := in.from
	for at < in.to {
		next := -1 // the place that begins first, and of these the widest
		for _, i := range here {
			p := places[i]
			if p.x.from < at || p.y.to > in.to {
				continue
			}
			if next < 0 || p.x.from < places[next].x.from || p.x.from == places[next].x.from && p.y.to > places[next].y.to {
				next = i
			}
		}
		if next < 0 {
			break
		}
		p := places[next]
		inner := slices.DeleteFunc(slices.Clone(here), func(i int) bool { return i == next })
		x, y := switched(src, p.x, places, inner), switched(src, p.y, places, inner)
		out.Write(src[at:p.x.from])
		switch p.was {
		case token.ADD, token.SUB:
			fmt.Fprintf(&out, "mutantSum(%s, (mutant == %d) == %v)", x, next+1, p.was == token.SUB)
		default:
			fmt.Fprintf(&out, "(mutant == %d && (%s %s %s) || mutant != %[1]d && (%[2]s %[5]s %[4]s))", next+1, x, p.is, y, p.was)
		}
		at = p.y.to
	}
	out.Write(src[at:in.to])
	return out.String()
}
