//go:build !js

package report

import (
	"fmt"
	"io"
	"strings"

	"overlay/internal/tables"
)

// Tables gives the difference as tables.
func (d *JobDifference) Tables() []tables.Table {
	return tables.From("job_difference", "how much longer a step, or the window, takes", d)
}

// lead says what times are of.
func (d *JobDifference) lead() string {
	if d.PerStep {
		return "a step in the middle, on the path over the ranks"
	}
	return "the window, on the path over the ranks"
}

// byClass is the time of one side by class.
func (d *JobDifference) byClass(of func(*Change) int64) map[string]int64 {
	m := map[string]int64{}
	for i := range d.Classes {
		if ns := of(&d.Classes[i]); ns > 0 {
			m[d.Classes[i].Name] = ns
		}
	}
	return m
}

func (d *JobDifference) paths() [2]pathBar {
	return [2]pathBar{{d.byClass(func(c *Change) int64 { return c.Before }), d.Length.Before}, {d.byClass(func(c *Change) int64 { return c.After }), d.Length.After}}
}

// WriteSVG draws the paths of both jobs as bars by class, to one scale, as that of two traces.
func (d *JobDifference) WriteSVG(w io.Writer) error { return writeBars(w, d.Verdict(), d.paths()) }

// WriteMarkdown writes the difference as a comment for a change under review: the verdict, the classes, what ranks waited, who is slow
// now, and the steps that changed, top at most, folded away.
func (d *JobDifference) WriteMarkdown(w io.Writer, top int) error {
	var b strings.Builder
	list := d.Tables()
	fmt.Fprintf(&b, "### %s %s: %s\n\n", mark(d.Length.Effect), code(d.After.Name), d.Verdict())
	fmt.Fprintf(&b, "| %s | before | after | effect |\n| --- | ---: | ---: | ---: |\n", d.lead())
	change := func(name string, l tables.Line) {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, l.Show("before_ns"), l.Show("after_ns"), l.Show("effect_ns"))
	}
	change("**all of it**", tables.Find(list, "length").Line(0))
	for l := range tables.Find(list, "classes").Lines(-1) {
		change(classWords[l.Str("name")], l)
	}
	change("waited in collectives, a rank on average", tables.Find(list, "waits").Line(0))
	fmt.Fprintf(&b, "\n%d ranks, bound by %s before; %d ranks, bound by %s after.\n", d.Before.Ranks, classWords[d.Before.BoundBy], d.After.Ranks, classWords[d.After.BoundBy])
	who := func(word string, all []StragglerChange) {
		for i := range all {
			x := &all[i]
			if i == top {
				fmt.Fprintf(&b, "- … %s more\n", tables.Plain(int64(len(all)-i)))
				break
			}
			fmt.Fprintf(&b, "- %s%s: %s, %s, %s\n", word, x.Change, code(x.Who), code(x.Cause), x.shares())
		}
	}
	if len(d.Stragglers)+len(d.Links) > 0 {
		b.WriteString("\n")
	}
	who("", d.Stragglers)
	who("slow link, ", d.Links)
	if len(d.Steps) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>Steps</summary>\n\n| | before | after | effect |\n| --- | ---: | ---: | ---: |\n")
		for l := range tables.Find(list, "steps").Lines(top) {
			change(l.Str("name"), l)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteHTML writes the difference as one page that needs nothing else.
func (d *JobDifference) WriteHTML(w io.Writer) error {
	list := d.Tables()
	longest := max(d.Length.Before, d.Length.After)
	classes, waits, steps := tables.Find(list, "classes"), tables.Find(list, "waits"), tables.Find(list, "steps")
	who := func(name string) grid {
		t := tables.Find(list, name)
		return makeGrid(t, maxRows, name, label("", func(l tables.Line) gridCell { return gridCell{Text: l.Str("change")} }), named("who", "who"),
			label("why", func(l tables.Line) gridCell { return gridCell{Text: Plain(l.Str("cause"))} }), figure(t, "before", "before"), figure(t, "after", "after"))
	}
	paths := d.paths()
	return page().ExecuteTemplate(w, "jobdiff", struct {
		*JobDifference
		shown
		Of                                                     string
		Sides                                                  [][]part
		ClassGrid, WaitGrid, StepGrid, StragglerGrid, LinkGrid grid
	}{d, list, d.lead(), [][]part{classParts(paths[0].byClass, paths[0].duration, longest), classParts(paths[1].byClass, paths[1].duration, longest)},
		makeGrid(classes, maxRows, "classes", changeColumns(classes, label("class", func(l tables.Line) gridCell { return gridCell{Text: classWords[l.Str("name")]} }), func(l tables.Line) string { return l.Str("name") })...),
		makeGrid(waits, 1, "waits", label("", func(tables.Line) gridCell { return gridCell{Text: "waited in collectives, a rank on average"} }),
			figure(waits, "before", "before_ns"), figure(waits, "after", "after_ns"), figure(waits, "effect", "effect_ns")),
		makeGrid(steps, maxRows, "steps", changeColumns(steps, named("step", "name"), turn)...), who("stragglers"), who("links")})
}
