//go:build !js

// What makes pages and pictures is left out of the page that needs no install, which shows text: the templates of the
// library would be 3 % of it.

package report

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"
	"math"

	"overlay/internal/tables"
)

//go:embed page/*.html
var pageFiles embed.FS

// page parses the templates; every value goes through their escaping. They are made when they are wanted, and so a
// program that writes no page holds none.
func page() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"ms": tables.Duration, "percent": tables.FormatShare, "share": tables.ShareOf, "group": func(n int) string { return tables.Grouped(int64(n)) },
		"word":    func(c string) string { return classWords[c] },
		"classes": byTime,
		"short":   func(n int, s string) string { return Shorten(Plain(s), n) },
		"plain":   Plain,
		"title":   sentence,
		"add":     func(a, b int64) int64 { return a + b },
		"words":   words,
		"json":    func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
	}).ParseFS(pageFiles, "page/*.html"))
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

// content is what the page shows.
type content struct {
	*Report
	shown
	Composition          []part
	PathKey              []keyEntry
	Findings             []finding
	Lanes                lanes
	StepGrid, LengthGrid grid
	StepNote             string
	HotspotGrid          grid
	GainGrid             grid
	UnknownGrids         []grid
	Cards                []card
	MethodGrids          []methodGrid
	PhaseGrid, NodeGrid  grid
}

// methodGrid is a table that one method has.
type methodGrid struct {
	Title string
	Grid  grid
}

// Rows are those of the table.
func (m methodGrid) Rows() [][]gridCell { return m.Grid.Rows }

// content lays out the page.
func (r *Report) content() content {
	list := r.Tables()
	return content{Report: r, shown: list, Composition: classParts(r.Path.ByClass, r.Window.Duration, r.Window.Duration), PathKey: r.pathKey(),
		Findings: r.findings(list), Lanes: r.window(list), StepGrid: r.stepGrid(list), LengthGrid: r.lengthGrid(list), StepNote: r.stepNote(list),
		HotspotGrid: hotspotGrid(list), GainGrid: gainGrid(list), UnknownGrids: unknownGrids(list), Cards: r.cards(), MethodGrids: methodGrids(list), PhaseGrid: phaseGrid(list), NodeGrid: nodeGrid(list)}
}

// WriteHTML writes the report as one page that needs nothing else: no network, no other file.
func (r *Report) WriteHTML(w io.Writer) error {
	return page().ExecuteTemplate(w, "page.html", r.content())
}

// methodGrids are the tables of the paper and of HTA.
func methodGrids(list []tables.Table) (out []methodGrid) {
	for _, side := range [...][2]string{{"ctda_cpu", "The paper's table, CPU"}, {"ctda_gpu", "The paper's table, GPU"}} {
		if t := tables.Find(list, side[0]); t != nil {
			out = append(out, methodGrid{side[1], makeGrid(t, maxRows, "names", named("name", "name"), wordsOf("category", "category"), bar(t, "duration_ns", "handoff"),
				figure(t, "duration", "duration_ns"), figure(t, "proportion", "proportion"), figure(t, "prop_in_total", "prop_in_total"))})
		}
	}
	if t := tables.Find(list, "hta"); t != nil {
		out = append(out, methodGrid{"HTA's summary", makeGrid(t, maxRows, "rows", label("bound by", func(l tables.Line) gridCell { return gridCell{Text: words(l.Str("bound_by"))} }),
			bar(t, "ns", "handoff"), figure(t, "of the path's weight", "share"), figure(t, "time", "ns"))})
	}
	return out
}

// turn is the colour of a change.
func turn(l tables.Line) string {
	if l.Value("effect_ns").Int() > 0 {
		return "slower"
	}
	return "faster"
}

// changeColumns are columns of what changed: a name, how much as a bar beside the largest change, and times before and after.
func changeColumns(t *tables.Table, first column, kind func(l tables.Line) string) []column {
	most := 0.0
	for l := range t.Lines(-1) {
		most = max(most, math.Abs(l.Value("effect_ns").Float()))
	}
	effect := bars("", func(l tables.Line) []part {
		return without([]part{{kind(l), ratio(math.Abs(l.Value("effect_ns").Float()), most), l.Show("effect_ns")}})
	})
	return []column{first, effect, figure(t, "before", "before_ns"), figure(t, "after", "after_ns"), figure(t, "effect", "effect_ns")}
}

// WriteHTML writes the difference as one page that needs nothing else.
func (d *Difference) WriteHTML(w io.Writer) error {
	list := d.Tables()
	longest := max(d.Window.Before, d.Window.After)
	classes, names := tables.Find(list, "classes"), tables.Find(list, "hotspots")
	return page().ExecuteTemplate(w, "diff", struct {
		*Difference
		shown
		Verdict                string
		Sides                  [][]part
		ClassGrid, HotspotGrid grid
	}{d, list, d.verdict(), [][]part{classParts(d.Before.Path.ByClass, d.Before.Window.Duration, longest), classParts(d.After.Path.ByClass, d.After.Window.Duration, longest)},
		makeGrid(classes, maxRows, "classes", changeColumns(classes, label("class", func(l tables.Line) gridCell { return gridCell{Text: classWords[l.Str("name")]} }), func(l tables.Line) string { return l.Str("name") })...),
		makeGrid(names, 4*cardRows, "names", changeColumns(names, named("name", "name"), turn)...)})
}
