package page

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// CommentDifference writes the difference as a comment for a change under review: the verdict, the classes, and the hotspots
// that changed, top at most, folded away.
func CommentDifference(w io.Writer, d *report.Difference, top int) error {
	var b strings.Builder
	list := d.Tables()
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark(d.Window.Effect), code(d.After.Input.Name), d.Verdict())
	fmt.Fprintf(&b, "| | before | after | effect |\n| --- | ---: | ---: | ---: |\n")
	change := func(name string, l tables.Line) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"))
	}
	change("**window**", tables.Find(list, "window").Line(0))
	for l := range tables.Find(list, "classes").Lines(-1) {
		change(report.ClassWords(l.Str("name")), l)
	}
	fmt.Fprintf(&b, "\nBound by %s before, by %s after.\n", report.ClassWords(d.Before.Path.BoundBy), report.ClassWords(d.After.Path.BoundBy))

	rows := 0
	for l := range tables.Find(list, "hotspots").Lines(top) {
		if l.Value("effect_ns").Int() == 0 {
			break
		}
		if rows++; rows == 1 {
			b.WriteString("\n<details><summary>Time on the critical path by name</summary>\n\n| | before | after | effect |\n| --- | ---: | ---: | ---: |\n")
		}
		change(code(report.Readable(l.Str("name"))), l)
	}
	if rows > 0 {
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mark is a sign that is seen from afar.
func mark(effect int64) string {
	switch {
	case effect > 0:
		return "🔴"
	case effect < 0:
		return "🟢"
	}
	return "⚪"
}

// code makes text of a trace safe for Markdown: a code span between more backquotes than it holds, without what would
// end a cell or a line.
func code(s string) string {
	s = strings.ReplaceAll(report.Shorten(report.Plain(s), 80), "|", "\\|")
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 || s == "" {
		s = " " + s + " "
	}
	return fence + s + fence
}
