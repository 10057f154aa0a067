package report

import (
	"cmp"
	"slices"

	"overlay/internal/tables"
)

// Section is a part of a page: a title, a sentence and tables. Without tables it has nothing to show.
type Section struct {
	Name, Title string
	Says        string
	Grids       []Grid
}

// Key explains a colour.
type Key struct{ Kind, Word string }

// Grid is a table of a page. Its cells are texts, numbers with their unit, and bars.
type Grid struct {
	Title   string
	Folded  bool  // it is shown when somebody asks for it
	Key     []Key // what the colours of bars mean
	Columns []Column
	Rows    [][]Cell
	Left    int    // rows of the table that the page does not hold
	What    string // what a row is, for the line that says so: "steps"

	dropped []int // columns that it was made with and has not, the last first
}

// Column is a column of a Grid: its head, and how its cells are made. A page that is too narrow leaves out what is Extra.
type Column struct {
	Head, About  string
	Unit         tables.Unit
	Number, Bar  bool
	Label, Extra bool
	First, Told  bool // a short label, which a text has first; a bar of which a text tells the parts

	cell func(l tables.Line) Cell
	key  []Key // of a bar
}

// Cell is one cell: a text with what stands below it in small, or parts of a bar.
type Cell struct {
	Text, Small string
	Code        bool   // a text may leave out the middle of Text
	Exact       string // of a number, to sort by
	Title       string // shown when the pointer rests on it
	Parts       []Part
}

// Part is a stretch of a bar. Kind is a class of the style sheet, which has the colours.
type Part struct {
	Kind  string
	Of    float64 // of the place for the bar
	Title string
}

const (
	maxRows  = 200 // rows of the long tables of a page
	cardRows = 10  // rows of the short ones
)

// gridOf lays out the first rows of a table, at most limit.
func gridOf(t *tables.Table, limit int, what string, columns ...Column) Grid {
	if t == nil {
		return Grid{}
	}
	order := make([]int, min(limit, t.Rows))
	for i := range order {
		order[i] = i
	}
	return gridIn(t, order, what, columns...)
}

// littleShare is the share of the window below which nothing has a line of its own.
const littleShare = 0.001

// gridWorth lays out the first rows of a table that are a share of the window worth a line, at most limit. They are in order of it.
func gridWorth(t *tables.Table, limit int, share, what string, columns ...Column) Grid {
	var order []int
	if t == nil {
		return Grid{}
	}
	for l := range t.Lines(limit) {
		if l.Value(share).Float() >= littleShare {
			order = append(order, l.Row)
		}
	}
	return gridIn(t, order, what, columns...)
}

// gridIn lays out the rows of a table that are listed, in that order.
func gridIn(t *tables.Table, order []int, what string, columns ...Column) Grid {
	g := Grid{Columns: columns, What: what, Left: t.Rows - len(order)}
	for _, i := range order {
		l, row := t.Line(i), make([]Cell, len(columns))
		for k, c := range columns {
			row[k] = c.cell(l)
		}
		g.Rows = append(g.Rows, row)
	}
	for i := len(g.Columns) - 1; i >= 0 && len(g.Rows) > 0; i-- { // columns in which every number is 0 say nothing
		if c := &g.Columns[i]; !c.Number || slices.ContainsFunc(g.Rows, func(row []Cell) bool { return row[i].Exact != "0" }) {
			continue
		}
		g.dropped = append(g.dropped, i)
		g.Columns = slices.Delete(slices.Clone(g.Columns), i, i+1)
		for r := range g.Rows {
			g.Rows[r] = slices.Delete(g.Rows[r], i, i+1)
		}
	}
	return g
}

// add adds a row with a cell for each column that the grid was made with.
func (g *Grid) add(row ...Cell) {
	for _, i := range g.dropped {
		row = slices.Delete(row, i, i+1)
	}
	g.Rows = append(g.Rows, row)
}

// keyOf explains the colours that bars of the grids have.
func keyOf(grids []Grid) (key []Key) {
	drawn := map[string]bool{}
	for _, g := range grids {
		for _, row := range g.Rows {
			for _, c := range row {
				for _, p := range c.Parts {
					drawn[p.Kind] = true
				}
			}
		}
	}
	for _, g := range grids {
		for _, c := range g.Columns {
			for _, k := range c.key {
				if drawn[k.Kind] && !slices.Contains(key, k) {
					key = append(key, k)
				}
			}
		}
	}
	return key
}

// label is the column that says what a row is about.
func label(head string, cell func(l tables.Line) Cell) Column {
	return Column{Head: head, Label: true, cell: cell}
}

// firstLabel is a short label, textual one by a pattern.
func firstLabel(head string, cell func(l tables.Line) Cell) Column {
	return Column{Head: head, Label: true, First: true, cell: cell}
}

func textual(head, pattern string) Column {
	return firstLabel(head, func(l tables.Line) Cell { return Cell{Text: say(l, pattern)} })
}

// inWords has a text tell the parts of a bar.
func inWords(c Column) Column {
	c.Told = true
	return c
}

// named is a label out of a column with a name, which is made readable.
func named(head, col string) Column {
	return label(head, func(l tables.Line) Cell { return nameCell(l.Str(col)) })
}

// longName is how much of a name the page shows. Names of kernels are shorter, once they are readable.
const longName = 200

func nameCell(name string) Cell { return cellOf(name, Readable(name)) }

// shownCell is the name of a row that says itself how it is shown.
func shownCell(l tables.Line) Cell { return cellOf(l.Str("name"), l.Str("readable")) }

func cellOf(name, readable string) Cell {
	c := Cell{Text: Shorten(Plain(readable), longName), Code: true}
	if c.Text != name {
		c.Title = name
	}
	return c
}

// wordsBy is a column of text, wordsOf one by a pattern.
func wordsBy(head string, text func(l tables.Line) string) Column {
	return Column{Head: head, Extra: true, cell: func(l tables.Line) Cell { return Cell{Text: text(l)} }}
}

func wordsOf(head, pattern string) Column {
	return wordsBy(head, func(l tables.Line) string { return say(l, pattern) })
}

// NoValue stands for a number that cannot be said.
const NoValue = "–"

// figure is a column of numbers with their unit.
func figure(t *tables.Table, head, col string) Column {
	c := Column{Head: head, Number: true, cell: func(l tables.Line) Cell {
		return Cell{Text: cmp.Or(l.Show(col), NoValue), Exact: l.Exact(col)}
	}}
	if t != nil {
		found := t.Column(col)
		c.Unit, c.About = found.Unit, found.About
	}
	return c
}

// extra marks a column that a narrow page leaves out.
func extra(c Column) Column {
	c.Extra = true
	return c
}

// shareOf is a column with what part of one column another one is.
func shareOf(head, part, whole string) Column {
	return Column{Head: head, Number: true, Unit: tables.Share, cell: func(l tables.Line) Cell {
		return shareCell(l.Value(part).Int(), l.Value(whole).Int())
	}}
}

func shareCell(part, whole int64) Cell {
	s := tables.ShareOf(part, whole)
	return Cell{Text: tables.FormatShare(s), Exact: tables.Float(s).Exact()}
}

// bars is a column with a bar in each row. Parts that cannot be seen are left out.
func bars(head string, parts func(l tables.Line) []Part, key ...Key) Column {
	return Column{Head: head, Bar: true, key: key, cell: func(l tables.Line) Cell {
		return Cell{Parts: slices.DeleteFunc(parts(l), func(p Part) bool { return p.Of <= 0 })}
	}}
}

// stack is a bar of several columns, as parts of another one. A part is a colour, a word and the name of the column.
func stack(whole string, parts ...[3]string) Column {
	var key []Key
	for _, p := range parts {
		key = append(key, Key{p[0], p[1]})
	}
	return bars("", func(l tables.Line) (list []Part) {
		for _, p := range parts {
			s := tables.ShareOf(l.Value(p[2]).Int(), l.Value(whole).Int())
			list = append(list, Part{p[0], s, p[1] + " " + tables.FormatShare(s) + ", " + l.Show(p[2])})
		}
		return list
	}, key...)
}

// bar is a column with a bar as long as a number is, of the longest one in the table. Its colour and what it says come from patterns.
func bar(t *tables.Table, col, kind, title string) Column {
	longest := most(t, col)
	return Column{Bar: true, cell: func(l tables.Line) Cell {
		return Cell{Parts: []Part{{say(l, kind), ratio(l.Value(col).Float(), longest), say(l, title)}}}
	}}
}

// inner is a bar as long as a number is, of the longest one in the table, a part of which is another number. The two parts have a
// colour, a word and a pattern each, for the part and for the rest.
func inner(t *tables.Table, part, whole string, a, b [3]string) Column {
	longest := most(t, whole)
	return bars("", func(l tables.Line) []Part {
		x, all := l.Value(part).Float(), l.Value(whole).Float()
		return []Part{{a[0], ratio(x, longest), say(l, a[2])}, {b[0], ratio(all-x, longest), say(l, b[2])}}
	}, Key{a[0], a[1]}, Key{b[0], b[1]})
}

// most is the largest number of a column.
func most(t *tables.Table, col string) (x float64) {
	if l, ok := largest(t, col); ok {
		x = l.Value(col).Float()
	}
	return x
}

// largest is the row with the most in a column; false where all have 0.
func largest(t *tables.Table, col string) (best tables.Line, ok bool) {
	if t == nil {
		return best, false
	}
	var top float64
	for l := range t.Lines(-1) {
		if x := l.Value(col).Float(); x > top {
			best, top, ok = l, x, true
		}
	}
	return best, ok
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return part / whole
}

func filled(grids []Grid) (out []Grid) {
	for _, g := range grids {
		if len(g.Rows) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// device and stream name the row of a device, or of a stream.
const (
	device = "GPU {device}"
	stream = "GPU {device} stream {stream}"
)
