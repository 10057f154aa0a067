package page

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// fewRows is how many rows a table of a comment has that is not folded away.
const fewRows = 10

// CommentDifference writes a difference as a comment for a change under review: the verdict, both sides, and tables of what changed, top rows of
// each at most, the long ones folded away.
func CommentDifference(w io.Writer, d *report.Compared, top int) error {
	var b strings.Builder
	of := code(d.Name)
	if d.Labels[0] != "before" {
		of += ", " + d.Labels[1] + " against " + d.Labels[0]
	}
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark(d.Effect, d.Noise), of, d.Verdict)
	for i, s := range d.Sides {
		fmt.Fprintf(&b, "- %s: %s\n", d.Labels[i], code(s.Says))
	}
	for _, s := range d.Notes {
		fmt.Fprintf(&b, "\n%s.\n", report.Sentence(s))
	}
	for i, s := range d.Sections {
		begin, end := "\n**"+s.Title+"** "+s.Says+"\n", ""
		if i > 0 && len(s.Grids[0].Rows) > fewRows {
			begin, end = "\n<details><summary>"+s.Title+"</summary>\n", "\n</details>\n"
		}
		b.WriteString(begin)
		for k := range s.Grids {
			b.WriteString(markdown(&s.Grids[k], top) + end)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown is the first rows of a table: its labels and numbers.
func markdown(g *report.Grid, top int) string {
	var lines [2]string
	for _, c := range g.Columns {
		switch {
		case c.Number && !c.Extra:
			lines[0], lines[1] = lines[0]+" "+c.Head+" |", lines[1]+" ---: |"
		case c.Label:
			lines[0], lines[1] = lines[0]+strings.TrimRight(" "+c.Head, " ")+" |", lines[1]+" --- |"
		}
	}
	out := "\n|" + lines[0] + "\n|" + lines[1] + "\n"
	for i, row := range g.Rows {
		if i == top {
			out += fmt.Sprintf("\n%s more\n", tables.Plain(int64(len(g.Rows)-i+g.Left)))
			break
		}
		out += "|"
		for k, c := range g.Columns {
			switch {
			case c.Number && !c.Extra:
				out += " " + row[k].Text + " |"
			case c.Label && row[k].Code:
				out += " " + code(row[k].Text) + " |"
			case c.Label:
				out += " " + strings.ReplaceAll(row[k].Text, "|", "\\|") + " |"
			}
		}
		out += "\n"
	}
	return out
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
