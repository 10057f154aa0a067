package page

import (
	"cmp"
	"html/template"
	"slices"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// grid is a table of the page. Its cells are texts, numbers with their unit, and bars.
type grid struct {
	Columns []gridColumn
	Rows    [][]gridCell
	Left    int    // rows of the table that the page does not hold
	What    string // what a row is, for the line that says so: "steps"
}

// gridColumn is the head of a column. A page that is too narrow leaves out what is Extra.
type gridColumn struct {
	Head, About  string
	Unit         tables.Unit
	Number, Bar  bool
	Label, Extra bool
}

// gridCell is one cell: a text with what stands below it in small, or parts of a bar.
type gridCell struct {
	Text, Small string
	Exact       string // of a number, to sort by
	Title       string // shown when the pointer rests on it
	Parts       []part
}

// part is a stretch of a bar. Kind is a class of the style sheet, which has the colours.
type part struct {
	Kind  string
	Of    float64 // of the place for the bar
	Title string
}

// Width is the length of a part as the style sheet wants it. It is drawn and not read.
func (p part) Width() template.CSS { return width(p.Of) }

func width(x float64) template.CSS {
	return template.CSS(tables.Fixed(100*x, 2) + "%")
}

// column makes the cells of a column from the rows of a table.
type column struct {
	gridColumn
	cell func(l tables.Line) gridCell
}

// makeGrid lays out the first rows of a table, at most limit.
func makeGrid(t *tables.Table, limit int, what string, columns ...column) grid {
	g := grid{What: what}
	for _, c := range columns {
		g.Columns = append(g.Columns, c.gridColumn)
	}
	if t == nil {
		return g
	}
	g.Left = max(0, t.Rows-limit)
	for l := range t.Lines(limit) {
		g.add(l, columns)
	}
	g.dropZeros()
	return g
}

// dropZeros leaves out columns in which every number is 0.
func (g *grid) dropZeros() {
	for i := len(g.Columns) - 1; i >= 0; i-- {
		if c := &g.Columns[i]; !c.Number || slices.ContainsFunc(g.Rows, func(row []gridCell) bool { return row[i].Exact != "0" }) {
			continue
		}
		g.Columns = slices.Delete(g.Columns, i, i+1)
		for r := range g.Rows {
			g.Rows[r] = slices.Delete(g.Rows[r], i, i+1)
		}
	}
}

// Few reports whether there is room for long bars.
func (g grid) Few() bool { return len(g.Columns) <= 4 }

// draws reports whether a bar of the table has a part of that kind.
func (g *grid) draws(kind string) bool {
	for _, row := range g.Rows {
		for _, c := range row {
			if slices.ContainsFunc(c.Parts, func(p part) bool { return p.Kind == kind }) {
				return true
			}
		}
	}
	return false
}

func (g *grid) add(l tables.Line, columns []column) {
	row := make([]gridCell, len(columns))
	for i, c := range columns {
		row[i] = c.cell(l)
	}
	g.Rows = append(g.Rows, row)
}

// label is the column that says what a row is about.
func label(head string, text func(l tables.Line) gridCell) column {
	return column{gridColumn{Head: head, Label: true}, text}
}

// named is a label out of a column with a name, which is made readable.
func named(head, col string) column {
	return label(head, func(l tables.Line) gridCell { return nameCell(l.Str(col)) })
}

// longName is how much of a name the page shows. Names of kernels are shorter, once they are readable.
const longName = 200

func nameCell(name string) gridCell { return cellOf(name, report.Readable(name)) }

// shownCell is the name of a row that says itself how it is shown.
func shownCell(l tables.Line) gridCell { return cellOf(l.Str("name"), l.Str("readable")) }

func cellOf(name, readable string) gridCell {
	c := gridCell{Text: report.Shorten(report.Plain(readable), longName)}
	if c.Text != name {
		c.Title = name
	}
	return c
}

// words is a column of text.
func wordsOf(head, col string) column {
	return column{gridColumn{Head: head, Extra: true}, func(l tables.Line) gridCell { return gridCell{Text: report.Plain(l.Str(col))} }}
}

// noValue stands for a number that cannot be said.
const noValue = "–"

// figure is a column of numbers with their unit.
func figure(t *tables.Table, head, col string) column {
	c := column{gridColumn{Head: head, Number: true}, func(l tables.Line) gridCell {
		return gridCell{Text: cmp.Or(l.Show(col), noValue), Exact: l.Exact(col)}
	}}
	if t != nil {
		found := t.Column(col)
		c.Unit, c.About = found.Unit, found.About
	}
	return c
}

// extra marks a column that a narrow page leaves out.
func extra(c column) column {
	c.Extra = true
	return c
}

// shareOf is a column with what part of one column another one is.
func shareOf(head, part, whole string) column {
	return column{gridColumn{Head: head, Number: true, Unit: tables.Share}, func(l tables.Line) gridCell {
		s := tables.ShareOf(l.Value(part).Int(), l.Value(whole).Int())
		return gridCell{Text: l.Share(part, whole), Exact: tables.Float(s).Exact()}
	}}
}

// bars is a column with a bar in each row.
func bars(head string, parts func(l tables.Line) []part) column {
	return column{gridColumn{Head: head, Bar: true}, func(l tables.Line) gridCell { return gridCell{Parts: parts(l)} }}
}

// bar is a column with a bar as long as a number is, of the longest one in the table.
func bar(t *tables.Table, col, kind string) column {
	longest := most(t, col)
	return bars("", func(l tables.Line) []part { return []part{{kind, ratio(l.Value(col).Float(), longest), ""}} })
}

// most is the largest number of a column.
func most(t *tables.Table, col string) (x float64) {
	if t != nil {
		for l := range t.Lines(-1) {
			x = max(x, l.Value(col).Float())
		}
	}
	return x
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

// stretch is a part of a bar for a column of a row: a word, its number and its share.
func stretch(l tables.Line, kind, word, col string, whole int64) part {
	s := tables.ShareOf(l.Value(col).Int(), whole)
	return part{kind, s, word + " " + tables.FormatShare(s) + ", " + l.Show(col)}
}

// without drops the parts that cannot be seen.
func without(parts []part) []part {
	out := parts[:0]
	for _, p := range parts {
		if p.Of > 0 {
			out = append(out, p)
		}
	}
	return out
}
