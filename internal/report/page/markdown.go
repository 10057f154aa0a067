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
	names := d.Labels()
	of, window := code(d.After.Input.Name), "window"
	if d.Steps != nil {
		of, window = of+", "+names[1]+" against "+names[0], "length"
	}
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark(d.Window.Effect, d.Noise), of, d.Verdict())
	head := changeHead("", names)
	b.WriteString(head)
	change := func(name string, l tables.Line) { b.WriteString(changeRow(name, l)) }
	if len(d.PerStep) > 0 {
		window = "a step"
	}
	change("**"+window+"**", tables.Find(list, "window").Line(0))
	for l := range tables.Find(list, "classes").Lines(-1) {
		change(report.ClassWords(l.Str("name")), l)
	}
	when := names
	if d.Steps != nil {
		when = [2]string{"in " + names[0], "in " + names[1]}
	}
	fmt.Fprintf(&b, "\nBound by %s %s, by %s %s.\n", report.ClassWords(d.Before.Path.BoundBy), when[0], report.ClassWords(d.After.Path.BoundBy), when[1])
	if unlike := d.Unlike(); unlike != "" {
		fmt.Fprintf(&b, "\n%s.\n", report.Sentence(unlike))
	}

	rows := 0
	for l := range tables.Find(list, "hotspots").Lines(top) {
		if l.Value("effect_ns").Int() == 0 {
			break
		}
		if rows++; rows == 1 {
			b.WriteString("\n<details><summary>Time on the critical path by name</summary>\n\n" + head)
		}
		change(code(l.Str("readable")), l)
	}
	if rows > 0 {
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changeHead begins a table of what changed; what its first column is of has a blank behind it.
func changeHead(of string, names [2]string) string {
	return fmt.Sprintf("| %s| %s | %s | effect |\n| --- | ---: | ---: | ---: |\n", of, names[0], names[1])
}

// changeRow is a line of such a table.
func changeRow(name string, l tables.Line) string {
	return fmt.Sprintf("| %s | %s | %s | %s |\n", name, l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"))
}

// CommentUnlike is the comment where two traces are not compared.
func CommentUnlike(w io.Writer, after string, c report.Comparable) error {
	_, err := fmt.Fprintf(w, "### ⚪ %s: not compared\n\nThe two traces do not do the same work: %s.\n", code(after), c.Why)
	return err
}

// mark is a sign that is seen from afar: of nothing where the noise holds none and both.
func mark(effect int64, n *report.Noise) string {
	switch {
	case n != nil && n.Known && n.Low <= 0 && n.High >= 0:
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
