package page

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// jobClasses is the time of one side by class.
func jobClasses(d *report.JobDifference, of func(*report.Change) int64) map[string]int64 {
	m := map[string]int64{}
	for i := range d.Classes {
		if ns := of(&d.Classes[i]); ns > 0 {
			m[d.Classes[i].Name] = ns
		}
	}
	return m
}

func jobPaths(d *report.JobDifference) [2]pathBar {
	return [2]pathBar{{jobClasses(d, func(c *report.Change) int64 { return c.Before }), d.Length.Before}, {jobClasses(d, func(c *report.Change) int64 { return c.After }), d.Length.After}}
}

// DrawJobDifference draws the paths of both jobs as bars by class, to one scale, as that of two traces.
func DrawJobDifference(w io.Writer, d *report.JobDifference) error {
	return writeBars(w, d.Verdict(), d.Labels(), jobPaths(d))
}

// CommentJobDifference writes the difference as a comment for a change under review: the verdict, the classes, what ranks waited, who is slow
// now, and the steps that changed, top at most, folded away.
func CommentJobDifference(w io.Writer, d *report.JobDifference, top int) error {
	var b strings.Builder
	list := d.Tables()
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark(d.Length.Effect, d.Noise), code(d.After.Name), d.Verdict())
	b.WriteString(changeHead(d.Lead()+" ", d.Labels()))
	change := func(name string, l tables.Line) { b.WriteString(changeRow(name, l)) }
	change("**all of it**", tables.Find(list, "length").Line(0))
	for l := range tables.Find(list, "classes").Lines(-1) {
		change(report.ClassWords(l.Str("name")), l)
	}
	change("waited in collectives, a rank on average", tables.Find(list, "waits").Line(0))
	fmt.Fprintf(&b, "\n%d ranks, bound by %s before; %d ranks, bound by %s after.\n", d.Before.Ranks, report.ClassWords(d.Before.BoundBy), d.After.Ranks, report.ClassWords(d.After.BoundBy))
	who := func(word string, all []report.StragglerChange) {
		for i := range all {
			x := &all[i]
			if i == top {
				fmt.Fprintf(&b, "- … %s more\n", tables.Plain(int64(len(all)-i)))
				break
			}
			fmt.Fprintf(&b, "- %s%s: %s, %s, %s\n", word, x.Change, code(x.Who), code(x.Cause), x.Shares())
		}
	}
	if len(d.Stragglers)+len(d.Links) > 0 {
		b.WriteString("\n")
	}
	who("", d.Stragglers)
	who("slow link, ", d.Links)
	if len(d.Steps) > 0 {
		b.WriteString("\n<details><summary>Steps</summary>\n\n" + changeHead("", [2]string{"before", "after"}))
		for l := range tables.Find(list, "steps").Lines(top) {
			change(l.Str("name"), l)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJobDifference writes the difference as one page that needs nothing else.
func WriteJobDifference(w io.Writer, d *report.JobDifference) error {
	return write(w, "jobdifference", struct {
		*report.JobDifference
		shown
		Of    string
		Sides []side
	}{d, d.Tables(), d.Lead(), twoSides(d.Labels(), jobPaths(d))})
}
