package report

import (
	"strings"

	"overlay/internal/tables"
)

// forms are what patterns can make of a column.
var forms = map[string]func(l tables.Line, col string) string{
	"class":    func(l tables.Line, col string) string { return ClassWords(l.Str(col)) },
	"of":       func(l tables.Line, col string) string { return ClassOf(l.Str(col)) },
	"kind":     func(l tables.Line, col string) string { return KindWords(l.Str(col)) },
	"words":    func(l tables.Line, col string) string { return Words(l.Str(col)) },
	"colour":   func(l tables.Line, col string) string { return kernelKinds[l.Str(col)] },
	"readable": func(l tables.Line, col string) string { return Readable(l.Str(col)) },
	"operator": func(l tables.Line, col string) string { return Operator(l.Str(col)) },
	"mean":     func(l tables.Line, col string) string { return tables.Fixed(l.Value(col).Float(), 1) },
	"side":     func(l tables.Line, col string) string { return [2]string{"CPU", "GPU"}[l.Value(col).Int()] },
	"hue":      func(l tables.Line, col string) string { return [2]string{"cpu", "gpu_compute"}[l.Value(col).Int()] },
	"from":     func(l tables.Line, col string) string { return after("from ", l.Str(col)) },
	"called":   func(l tables.Line, col string) string { return l.Str(col) + after(" in ", l.Str("operator")) },
}

// after is a text behind a word if there is one.
func after(word, s string) string {
	if s == "" {
		return ""
	}
	return word + s
}

// say fills a pattern with the values of a row, for a sentence or a cell. A pattern is text with columns between braces:
//
//	{ns}            the value with its unit
//	{part/whole}    what part of a column another one is
//	{count#call}    a number with what it counts: 1 call, 2,000 calls
//	{words cause}   the text of a column in words: see forms
func say(l tables.Line, pattern string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(pattern, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		field, after, _ := strings.Cut(rest, "}")
		s := ""
		if part, whole, ok := strings.Cut(field, "/"); ok {
			s = l.Share(part, whole)
		} else if col, noun, ok := strings.Cut(field, "#"); ok {
			s = tables.Counted(int(l.Value(col).Int()), noun)
		} else if form, col, ok := strings.Cut(field, " "); ok {
			s = forms[form](l, col)
		} else {
			s = l.Show(field)
		}
		b.WriteString(Plain(s))
		pattern = after
	}
}

// kernelKinds are the colours of the types of operations.
var kernelKinds = map[string]string{"computation": "gpu_compute", "communication": "communication", "memory": "copy", "other": "untraced"}
