package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/tables"
)

// say fills a pattern with the values of a row, for a sentence or a cell: see filler.
func say(l tables.Line, pattern string) string { return filler{}.fill(l, pattern) }

// filler fills patterns with the values of a row. A pattern is text with columns between braces:
//
//	{ns}            the value with its unit
//	{part/whole}    what part of a column another one is
//	{count#call}    a number with what it counts: 1 call, 2,000 calls
//	{words cause}   the text of a column in words: see forms
//	{ns:11} {ns:-5} in so many letters, to the right or to the left; {step:-18!} a longer text is cut
//	{name<30}       cut to what the width of the text leaves without so many letters
type filler struct {
	width int // of a line of text; 0: nothing is cut
	names Names
}

// forms are what patterns can make of a column.
var forms = map[string]func(f filler, l tables.Line, col string) string{
	"class":    func(_ filler, l tables.Line, col string) string { return ClassWords(l.Str(col)) },
	"of":       func(_ filler, l tables.Line, col string) string { return ClassOf(l.Str(col)) },
	"kind":     func(_ filler, l tables.Line, col string) string { return KindWords(l.Str(col)) },
	"words":    func(_ filler, l tables.Line, col string) string { return Words(l.Str(col)) },
	"colour":   func(_ filler, l tables.Line, col string) string { return kernelKinds[l.Str(col)] },
	"phase":    func(_ filler, l tables.Line, col string) string { return shortPhase(l.Str(col)) },
	"generic":  func(_ filler, l tables.Line, col string) string { return Readable(l.Str(col)) },
	"readable": func(f filler, l tables.Line, col string) string { return f.names.Readable(l.Str(col)) },
	"all":      func(f filler, l tables.Line, col string) string { return f.names.ReadableList(l.Value(col).List()) },
	"operator": func(_ filler, l tables.Line, col string) string { return Operator(l.Str(col)) },
	"exact":    func(_ filler, l tables.Line, col string) string { return l.Exact(col) },
	"whole":    func(_ filler, l tables.Line, col string) string { return tables.Fixed(l.Value(col).Float(), 0) },
	"mean":     func(_ filler, l tables.Line, col string) string { return tables.Fixed(l.Value(col).Float(), 1) },
	"MB1":      func(_ filler, l tables.Line, col string) string { return tables.FormatMegabytes(l.Value(col).Int(), 1) },
	"MB2":      func(_ filler, l tables.Line, col string) string { return tables.FormatMegabytes(l.Value(col).Int(), 2) },
	"side":     func(_ filler, l tables.Line, col string) string { return either(l, col, "CPU", "GPU") },
	"hue":      func(_ filler, l tables.Line, col string) string { return either(l, col, "cpu", "gpu_compute") },
	"mark":     func(_ filler, l tables.Line, col string) string { return either(l, col, "", "  "+col+" overlap") },
	"from":     func(_ filler, l tables.Line, col string) string { return after("from ", l.Str(col)) },
	"called":   func(_ filler, l tables.Line, col string) string { return l.Str(col) + after(" in ", l.Str("operator")) },
	"launches": func(f filler, l tables.Line, col string) string {
		return Operator(l.Str("operator")) + ": " + f.names.ReadableList(l.Value(col).List())
	},
	"longest": func(_ filler, l tables.Line, col string) string {
		return l.Str("operator") + " " + l.Str("type") + ": " + Readable(l.Str(col))
	},
}

// either is one of two words by a flag, after a text behind a word if there is one.
func either(l tables.Line, flag, no, yes string) string {
	return [2]string{no, yes}[l.Value(flag).Int()]
}

func after(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// row prints a row by a pattern, rows a line for each row of a table, of at most so many rows where limit is not 0.
func (t *text) row(l tables.Line, pattern string) {
	t.line("%s", filler{t.width, t.names}.fill(l, pattern))
}

func (t *text) rows(table *tables.Table, limit int, pattern string) {
	for l := range table.Lines(cmp.Or(limit, -1)) {
		t.row(l, pattern)
	}
}

func (f filler) fill(l tables.Line, pattern string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		field, after, _ := strings.Cut(rest, "}")
		b.WriteString(f.field(l, field))
		pattern = after
	}
}

func (f filler) field(l tables.Line, field string) string {
	field, cut, _ := strings.Cut(field, "<")
	field, wide, _ := strings.Cut(field, ":")
	wide, fixed := strings.CutSuffix(wide, "!")
	width, _ := strconv.Atoi(wide)
	s := ""
	if part, whole, ok := strings.Cut(field, "/"); ok {
		s = l.Share(part, whole)
	} else if col, noun, ok := strings.Cut(field, "#"); ok {
		s = tables.Counted(int(l.Value(col).Int()), noun)
	} else if form, col, ok := strings.Cut(field, " "); ok {
		s = forms[form](f, l, col)
	} else {
		s = l.Show(field)
	}
	s = Plain(s)
	if less, _ := strconv.Atoi(cut); less > 0 && f.width > 0 {
		s = Shorten(s, f.width-less)
	}
	if fixed {
		s = Shorten(s, max(width, -width))
	}
	return fmt.Sprintf("%*s", width, s)
}
