package report

import (
	"io"
	"math"
	"slices"

	"overlay/internal/tables"
)

// Compared is a difference as it is shown, of two traces or of two jobs: text, page, picture and comment are made of it.
type Compared struct {
	Subject  string // what is compared with what
	Name     string // of the second side
	Verdict  string
	Labels   [2]string // what the sides are called where there is room for a word or two
	Sides    [2]Side
	Notes    []string
	Sections []Section // the first is what the paths are made of
	Effect   int64
	Noise    *Noise
}

// Side is one of the two: what there is to say of it, how long it takes, and what its path is made of.
type Side struct {
	Says    string
	Length  int64
	ByClass map[string]int64
}

// compared begins with what paths are made of: all of it, the classes that are a thousandth of it and more, and what else there is to tell.
func compared(total *Change, classes []Change, of string, labels [2]string, more ...Change) *Compared {
	c := &Compared{Labels: labels, Effect: total.Effect}
	c.Sides[0] = Side{Length: total.Before, ByClass: map[string]int64{}}
	c.Sides[1] = Side{Length: total.After, ByClass: map[string]int64{}}
	list := []Change{{"all of it", total.Before, total.After, total.Effect}}
	for _, x := range classes {
		c.Sides[0].ByClass[x.Name], c.Sides[1].ByClass[x.Name] = x.Before, x.After
		if max(x.Before, x.After)*1000 >= max(total.Before, total.After) {
			x.Name = ClassWords(x.Name)
			list = append(list, x)
		}
	}
	list = append(list, more...)
	c.Sections = []Section{{Title: "What the path is made of", Says: of, Grids: []Grid{changeGrid(&tables.From("made", "", list)[0], maxRows, true, labels, "classes", plainLabel("", "{name}"))}}}
	return c
}

// add adds tables of what changed that have anything.
func (c *Compared) add(title, says string, grids ...Grid) {
	if grids = filled(grids); len(grids) > 0 {
		c.Sections = append(c.Sections, Section{Title: title, Says: says, Grids: grids})
	}
}

// text prints the difference, so many rows of each table at most.
func (c *Compared) text(w io.Writer, o TextOptions, top int) error {
	t := newText(w, o, nil)
	if c.Labels[0] != "before" {
		t.para(c.Subject)
	}
	wide := max(len(c.Labels[0]), len(c.Labels[1]), 7) + 1
	for i, s := range c.Sides {
		for k, l := range wrapText(s.Says, t.width-wide) {
			t.line("%-*s%s", wide, []string{c.Labels[i], ""}[min(k, 1)], l)
		}
	}
	t.line("%s", t.bold(c.Verdict))
	for _, s := range c.Notes {
		t.para(s)
	}
	for _, s := range c.Sections {
		t.section(s, top)
	}
	return t.w.Flush()
}

// changeGrid is a table of what changed, where all is false without what did not: a name, how much as a bar beside the largest change, and times before and after.
func changeGrid(t *tables.Table, limit int, all bool, labels [2]string, what string, first Column, more ...Column) Grid {
	if t == nil {
		return Grid{}
	}
	most, order := 0.0, []int{}
	for l := range t.Lines(-1) {
		x := math.Abs(l.Value("effect_ns").Float())
		if most = max(most, x); x > 0 || all {
			order = append(order, l.Row)
		}
	}
	effect := bars("", func(l tables.Line) []Part {
		x, colour := l.Value("effect_ns").Float(), "faster"
		if x > 0 {
			colour = "slower"
		}
		return []Part{{colour, ratio(math.Abs(x), most), l.Show("effect_ns")}}
	})
	g := gridIn(t, order[:min(len(order), limit)], what, slices.Concat([]Column{first, effect, figure(t, labels[0], "before_ns"), figure(t, labels[1], "after_ns"), figure(t, "effect", "effect_ns")}, more)...)
	g.Left = len(order) - len(g.Rows)
	g.Key = []Key{{"slower", "longer than " + labels[0]}, {"faster", "shorter than " + labels[0]}}
	return g
}

// plainLabel is a label by a pattern, which a text has behind the numbers.
func plainLabel(head, pattern string) Column {
	return label(head, func(l tables.Line) Cell { return Cell{Text: say(l, pattern)} })
}

// Shown is the difference of two traces as it is shown.
func (d *Difference) Shown() *Compared {
	labels, list, of := d.Labels(), d.Tables(), ""
	more := []Change{}
	if len(d.PerStep) > 0 {
		of = "Times are of a step in the middle."
	}
	if d.Steps != nil && d.Steps.Earlier.Before+d.Steps.Earlier.After > 0 {
		more = append(more, d.Steps.Earlier)
		more[0].Name = "of this, launched before it began"
	}
	c := compared(&d.Window, d.Classes, of, labels, more...)
	c.Subject, c.Verdict, c.Name, c.Noise = d.Subject(), d.Verdict(), d.After.Input.Name, d.Noise
	for i, r := range []*Report{d.Before, d.After} {
		s := tables.Duration(r.Window.Duration) + ", " + r.Bound()
		if n := r.countSteps(); len(d.PerStep) > 0 {
			s = tables.Counted(n, "step") + " in " + s
		}
		if d.Steps == nil {
			s = Shorten(Plain(r.Input.Name), 60) + ", " + s
		} else {
			s += after("; ", d.Steps.sides()[i].Why)
		}
		c.Sides[i].Says = s
	}
	c.Notes = nonEmpty(d.Apart(), d.Unlike(), d.CaughtUp(), d.NotItsOwn())
	served := tables.Find(list, "iterations_changed")
	c.add("Iterations of the server", "Medians.", changeGrid(served, maxRows, true, labels, "types", plainLabel("", "{type}"), extra(figure(served, "tokens/s "+labels[0], "before_tokens_per_s")), extra(figure(served, "tokens/s "+labels[1], "after_tokens_per_s"))))
	if d.Explained == nil || d.Explained.By == "names" { // names of two makers are not the same work
		calls := wordsBy("calls", func(l tables.Line) string {
			if l.Show("before_calls") != l.Show("after_calls") {
				return say(l, "{before_calls} → {after_calls}")
			}
			return l.Show("before_calls")
		})
		says := "Largest effect first."
		if len(d.PerStep) > 0 {
			says = "Of a step on average, largest effect first."
		}
		c.add("Hotspots", says, changeGrid(tables.Find(list, "hotspots"), 4*cardRows, false, labels, "names", label("name", shownCell), calls))
	}
	c.add("What makes "+tables.Signed(d.Window.Effect), d.Explained.says(), d.explainedGrid())
	return c
}

// WriteText writes the difference on about one screen, top rows of each table at most.
func (d *Difference) WriteText(w io.Writer, o TextOptions, top int) error {
	return d.Shown().text(w, o, top)
}

// Shown is the difference of two jobs as it is shown.
func (d *JobDifference) Shown() *Compared {
	labels, list := [2]string{"before", "after"}, d.Tables()
	waits := d.Waits
	waits.Name = "waited in collectives, a rank on average"
	c := compared(&d.Length, d.Classes, "Times are of "+d.Lead()+".", labels, waits)
	c.Subject = Shorten(Plain(d.Before.Name), 60) + " → " + Shorten(Plain(d.After.Name), 60)
	c.Verdict, c.Name, c.Noise = d.Verdict(), d.After.Name, d.Noise
	for i, s := range []*JobSide{&d.Before, &d.After} {
		c.Sides[i].Says = Shorten(Plain(s.Name), 50) + ", " + tables.Plain(int64(s.Ranks)) + " of " + tables.Counted(s.World, "rank") + ", " + tables.Duration(s.Window) + ", " + boundBy(s.BoundBy)
	}
	c.Notes = nonEmpty(unlike(d.Same))
	who := func(title, name string) {
		t := tables.Find(list, name)
		c.add(title, "", gridOf(t, maxRows, name, label("who", func(l tables.Line) Cell { return Cell{Text: say(l, "{change} {who}: {cause}"), Code: true} }), figure(t, "before", "before"), figure(t, "after", "after")))
	}
	who("Ranks with more work than their peers", "stragglers")
	who("Slow links", "links")
	c.add("Steps that both jobs recorded", "", changeGrid(tables.Find(list, "steps"), maxRows, true, labels, "steps", named("step", "name")))
	return c
}

// WriteText writes the difference on about one screen, top rows of each table at most.
func (d *JobDifference) WriteText(w io.Writer, o TextOptions, top int) error {
	return d.Shown().text(w, o, top)
}
