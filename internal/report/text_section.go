package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// sections prints those that have something to show, of each as many rows as most says.
func (t *text) sections(list []Section, most func(Section) int) {
	for _, s := range list {
		if len(s.Grids) > 0 {
			t.section(s, most(s))
		}
	}
}

// section prints a section of a page as text: its title, what it says, and its tables, at most so many rows of each.
func (t *text) section(s Section, most int) {
	says := s.Title
	if s.Says != "" {
		says += ". " + s.Says
	}
	t.line("")
	for i, l := range wrapText(says, t.width) {
		if i == 0 {
			l = t.bold(s.Title) + strings.TrimPrefix(l, s.Title)
		}
		t.line("%s", l)
	}
	for i := range s.Grids {
		if title := s.Grids[i].Title; title != "" {
			t.line("  %s", title)
		}
		t.grid(&s.Grids[i], most)
	}
}

// roomForName is how much of a line is kept for the last column, where columns can be left out for it.
const roomForName = 30

// textColumns are the columns of a table that a text shows, in order: a short label first, numbers, words, parts of bars, and names, which are
// cut to what is left of the line.
func (g *Grid) textColumns() (order []int) {
	rank := func(c int) int {
		switch col := &g.Columns[c]; {
		case col.First:
			return 0
		case col.Number:
			return 1
		case col.Bar:
			return 3
		case col.Label:
			return 4
		}
		return 2
	}
	for c := range g.Columns {
		if col := &g.Columns[c]; !col.Bar || col.Told {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank(a) - rank(b) })
	return order
}

// told is what a text shows of a cell on its first line: of a bar its parts, and of a short label what is below it, too.
func (g *Grid) told(row []Cell, col int) string {
	c := &row[col]
	if g.Columns[col].First && c.Small != "" {
		return Plain(c.Text + " (" + c.Small + ")")
	}
	words := []string{}
	for _, p := range c.Parts {
		word, _, _ := strings.Cut(p.Title, ", ")
		words = append(words, word)
	}
	return Plain(c.Text + strings.Join(words, ", "))
}

// widestWords is how wide a column of words may be that is not the last.
const widestWords = 36

// grid prints the first rows of a table. What does not fit is left out: columns that a narrow page leaves out too.
func (t *text) grid(g *Grid, most int) {
	rows, order := first(g.Rows, most), g.textColumns()
	wide := make([]int, len(g.Columns))
	for _, c := range order {
		wide[c] = utf8.RuneCountInString(g.Columns[c].Head)
		for _, row := range rows {
			wide[c] = max(wide[c], min(utf8.RuneCountInString(g.told(row, c)), widestWords))
		}
	}
	fixed := 0 // before the last column
	for {
		fixed = 2 * len(order)
		for _, c := range order[:len(order)-1] {
			fixed += wide[c]
		}
		extra := slices.IndexFunc(order, func(c int) bool { return g.Columns[c].Extra })
		if extra < 0 || fixed+min(wide[order[len(order)-1]], roomForName) <= t.width {
			break
		}
		order = slices.Delete(order, extra, extra+1)
	}
	last, room := order[len(order)-1], max(t.width-fixed, 10)
	line := func(cell func(c int) string, lastLine string) {
		var b strings.Builder
		for _, c := range order[:len(order)-1] {
			s := Shorten(cell(c), wide[c])
			blanks := strings.Repeat(" ", wide[c]-utf8.RuneCountInString(s))
			if b.WriteString("  "); g.Columns[c].Number {
				b.WriteString(blanks + s)
			} else {
				b.WriteString(s + blanks)
			}
		}
		if g.Columns[last].Number {
			lastLine = strings.Repeat(" ", max(wide[last]-utf8.RuneCountInString(lastLine), 0)) + lastLine
		}
		t.line("%s", Shorten(b.String()+"  "+lastLine, t.width))
	}
	if slices.ContainsFunc(order, func(c int) bool { return g.Columns[c].Head != "" }) {
		line(func(c int) string { return g.Columns[c].Head }, g.Columns[last].Head)
	}
	for _, row := range rows {
		lines := broken(g.told(row, last), row[last].Code, room)
		line(func(c int) string { return g.told(row, c) }, lines[0])
		t.indented(fixed, lines[1:])
		for _, c := range order {
			if g.Columns[c].First {
				continue
			}
			for _, small := range nonEmpty(strings.Split(row[c].Small, smallParts)...) {
				if room >= roomForName {
					t.indented(fixed, broken(Plain(small), row[c].Code, room))
				} else {
					t.indented(6, broken(Plain(small), row[c].Code, t.width-6))
				}
			}
		}
	}
	t.rest("  ", len(g.Rows)-len(rows)+g.Left)
}

// broken is a text on as many lines as it needs, code cut to one.
func broken(s string, code bool, room int) []string {
	if code {
		return []string{Shorten(s, room)}
	}
	return wrapText(s, room)
}

// indented prints lines that begin after so many blanks.
func (t *text) indented(blanks int, lines []string) {
	for _, l := range lines {
		t.line("%s", Shorten(strings.Repeat(" ", blanks)+l, t.width))
	}
}
