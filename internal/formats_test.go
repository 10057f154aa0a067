package internal

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// formatsHome is the one package that makes text out of numbers with a unit.
const formatsHome = "internal/tables"

// otherFormats are exceptions: what is written there is read by programs, or is no number that people see. The second
// word is what the check finds.
var otherFormats = [][2]string{
	{"internal/chrome/record.go", "strconv.AppendFloat"},    // a JSON number
	{"internal/frompftrace/text.go", "strconv.AppendFloat"}, // the same
	{"internal/kinetotext/text.go", "strconv.AppendFloat"},  // the same
	{"internal/report/page/page.go", `+ "%"`},               // the width of a box of the page
}

// TestNumbersAreFormattedInOnePlace looks for times, shares and amounts that become text outside of their home.
func TestNumbersAreFormattedInOnePlace(t *testing.T) {
	used := make([]bool, len(otherFormats))
	programFiles(t, []string{formatsHome, "internal/testtrace"}, func(name string, src []byte) {
		for _, f := range ownFormats(name, src) {
			if i := slices.Index(otherFormats, [2]string{name, f.what}); i >= 0 {
				used[i] = true
				continue
			}
			t.Errorf("%s:%d: %q makes text of a number: that belongs to %s", name, f.line, f.what, formatsHome)
		}
	})
	for i, ok := range used {
		if !ok {
			t.Errorf("%s has no %q any more: its exception can go", otherFormats[i][0], otherFormats[i][1])
		}
	}
}

// TestPlantedFormats shows that the check finds what it is for, and only that.
func TestPlantedFormats(t *testing.T) {
	for src, want := range map[string]string{
		`fmt.Sprintf("%.2f ms", x)`:                    "%.2f",
		`fmt.Sprintf("%-8.1f|", x)`:                    "%-8.1f",
		`fmt.Sprintf("%*.*f", 8, 2, x)`:                "%*.*f",
		`fmt.Sprintf("%d %%", n)`:                      "%d %%",
		`fmt.Sprintf("%v %% longer", n)`:               "%v %%",
		`fmt.Sprintf("%d ns", n)`:                      "%d ns",
		`fmt.Sprintf("%6dµs", n)`:                      "%6dµs",
		`fmt.Sprintf("%s MB, %d rows", a, b)`:          "%s MB",
		`strconv.FormatFloat(x, 'f', 1, 64)`:           "strconv.FormatFloat",
		`strconv.AppendFloat(b, x, 'g', 1, 64)`:        "strconv.AppendFloat",
		`d.Seconds()`:                                  "Seconds",
		`float64(ns)/1e6`:                              "/ 1e6",
		`strconv.Itoa(n) + " %"`:                       `+ " %"`,
		`strconv.Itoa(n) + " ms"`:                      `+ " ms"`,
		`fmt.Sprintf("%s takes %s", a, b)`:             "",
		`fmt.Sprintf("%d rows, %d segments", a, b)`:    "",
		`fmt.Sprintf("%d steps and %q", a, b)`:         "",
		`f("%w: no file: %s; check the name", err, n)`: "",
		`a + " " + b`:                                  "",
		`x / 1000`:                                     "",
	} {
		got := ownFormats("a.go", []byte("package p\nvar _ = "+src))
		switch {
		case want == "" && len(got) > 0:
			t.Errorf("%s: unexpected %v", src, got)
		case want != "" && (len(got) == 0 || got[0].what != want):
			t.Errorf("%s: got %v, want %q first", src, got, want)
		}
	}
}

// format is something in a source file that makes text of a number with a unit.
type format struct {
	line int
	what string
}

var (
	floatVerb = regexp.MustCompile(`%[-+# 0]*[\d*]*(\.[\d*]+)?[eEfFgG]`)
	unitVerb  = regexp.MustCompile(`%[-+# 0]*[\d*]*[dvs] ?(%%|(ns|µs|us|ms|s|kB|MB|GB|KiB|MiB|GiB)\b)`)
	unitWord  = regexp.MustCompile(`^ ?(%|ns|µs|us|ms|s|kB|MB|GB|GB/s)$`)
	scale     = regexp.MustCompile(`^1(e[369]|_?000_?000(_?000)?\.0)$`)
	inSeconds = []string{"Seconds", "Milliseconds", "Microseconds", "Minutes"}
)

// ownFormats lists them: verbs for floats, verbs followed by a unit, units put behind something, conversions of floats,
// and divisions that turn ns or bytes into something larger.
func ownFormats(file string, src []byte) (list []format) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, filepath.FromSlash(file), src, parser.SkipObjectResolution)
	if err != nil {
		return []format{{0, err.Error()}}
	}
	add := func(n ast.Node, what string) { list = append(list, format{fset.Position(n.Pos()).Line, what}) }
	ast.Inspect(f, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.BasicLit:
			if x.Kind != token.STRING {
				break
			}
			s, _ := strconv.Unquote(x.Value)
			if m := unitVerb.FindString(s); m != "" {
				add(x, m)
			} else if m := floatVerb.FindString(strings.ReplaceAll(s, "%%", "")); m != "" {
				if strings.Contains(s, m+"%%") {
					m += "%%"
				}
				add(x, m)
			}
		case *ast.BinaryExpr:
			lit, ok := x.Y.(*ast.BasicLit)
			switch {
			case !ok:
			case x.Op == token.QUO && scale.MatchString(lit.Value):
				add(x, "/ "+lit.Value)
			case x.Op == token.ADD && lit.Kind == token.STRING:
				if s, _ := strconv.Unquote(lit.Value); unitWord.MatchString(s) {
					add(x, fmt.Sprintf("+ %q", s))
				}
			}
		case *ast.SelectorExpr:
			if p, ok := x.X.(*ast.Ident); ok && p.Name == "strconv" && (x.Sel.Name == "FormatFloat" || x.Sel.Name == "AppendFloat") {
				add(x, "strconv."+x.Sel.Name)
			} else if slices.Contains(inSeconds, x.Sel.Name) && !(ok && p.Name == "tables") {
				add(x, x.Sel.Name)
			}
		case *ast.ImportSpec:
			return false
		}
		return true
	})
	return list
}
