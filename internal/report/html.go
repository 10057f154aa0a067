package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"overlay/internal/tables"
)

//go:embed page.html
var pageText string

// page parses the template; every value goes through its escaping. It is made when it is wanted, and so a program that
// writes no page holds no templates.
func page() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ms": tables.Duration, "percent": tables.FormatShare, "share": tables.ShareOf, "group": func(n int) string { return tables.Grouped(int64(n)) },
		"word":     func(c string) string { return classWords[c] },
		"color":    classColor,
		"classes":  byTime,
		"short":    func(n int, s string) string { return Shorten(Plain(s), n) },
		"plain":    Plain,
		"readable": Readable,
		"add":      func(a, b int64) int64 { return a + b },
		"sub":      func(a, b int64) int64 { return a - b },
		"words":    words, "kindWords": kindWords,
		"width": func(x float64) template.CSS { return template.CSS(fmt.Sprintf("%.3f%%", 100*x)) }, // of a box, not shown
	}).Parse(pageText))
}

// maxRows is how many rows the long tables of the page hold.
const maxRows = 200

// shown gives the page the rows of tables.
type shown []tables.Table

// Rows is the head of a table.
func (s shown) Rows(name string) []tables.Line {
	var out []tables.Line
	if t := tables.Find(s, name); t != nil {
		for l := range t.Lines(maxRows) {
			out = append(out, l)
		}
	}
	return out
}

// Row is the row of a table that always has one.
func (s shown) Row(name string) tables.Line { return tables.Find(s, name).Line(0) }

// Left is how many rows of a table the page does not hold.
func (s shown) Left(name string) int { return max(0, tables.Find(s, name).Rows-maxRows) }

// WriteHTML writes the report as one page that needs nothing else: no network, no other file.
func (r *Report) WriteHTML(w io.Writer) error {
	return page().Execute(w, struct {
		*Report
		shown
		StepBars, HotspotBars, PhaseBars []bar
		Sections                         []section
	}{r, r.Tables(), r.stepBars(), r.hotspotBars(), r.phaseBars(), r.sections()})
}

// section is an analysis on the page.
type section struct {
	Name   string
	Tables []grid
}

// grid is a table whose cells are texts.
type grid struct {
	Title   string // "" for the table of the analysis itself
	Columns []tables.Column
	Rows    [][]gridCell
	Left    int // rows that the page does not hold
}

type gridCell struct {
	Text, Exact string
	Number      bool
}

// sections lays the analyses out as tables; those without rows are left out.
func (r *Report) sections() []section {
	var out []section
	for _, a := range r.Analyses.Sections() {
		s := section{Name: a.Name}
		for i := range a.Tables {
			if a.Tables[i].Rows > 0 {
				s.Tables = append(s.Tables, gridOf(&a.Tables[i], a.Name))
			}
		}
		if len(s.Tables) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func gridOf(t *tables.Table, analysis string) grid {
	g := grid{Columns: t.Cols, Left: max(0, t.Rows-maxRows)}
	if t.Name != analysis {
		g.Title = t.About
	}
	for l := range t.Lines(maxRows) {
		var row []gridCell
		for i, c := range t.Cols {
			row = append(row, gridCell{cellText(c.Unit, l.Values[i]), l.Values[i].Exact(), c.Unit.Numeric()})
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// cellText makes names readable; numbers are shown by their unit.
func cellText(u tables.Unit, v tables.Value) string {
	switch {
	case u != tables.Text:
		return u.Format(v)
	case v.List() != nil:
		return readableList(v.List())
	}
	return Readable(v.Str())
}

// WriteHTML writes the difference as one page that needs nothing else.
func (d *Difference) WriteHTML(w io.Writer) error {
	return page().ExecuteTemplate(w, "diff", struct {
		*Difference
		shown
		Verdict string
		Sides   []*Report
		Longest int64
	}{d, d.Tables(), d.verdict(), []*Report{d.Before, d.After}, max(d.Window.Before, d.Window.After)})
}
