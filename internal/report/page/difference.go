package page

import (
	"io"
	"math"

	"overlay/internal/report"
	"overlay/internal/tables"
)

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

// WriteDifference writes a difference as one page that needs nothing else.
func WriteDifference(w io.Writer, d *report.Difference) error {
	list := d.Tables()
	longest := max(d.Window.Before, d.Window.After)
	classes, names := tables.Find(list, "classes"), tables.Find(list, "hotspots")
	return page().ExecuteTemplate(w, "difference", struct {
		*report.Difference
		shown
		Verdict                string
		Sides                  [][]part
		ClassGrid, HotspotGrid grid
	}{d, list, d.Verdict(), [][]part{classParts(d.Before.Path.ByClass, d.Before.Window.Duration, longest), classParts(d.After.Path.ByClass, d.After.Window.Duration, longest)},
		makeGrid(classes, maxRows, "classes", changeColumns(classes, label("class", func(l tables.Line) gridCell { return gridCell{Text: report.ClassWords(l.Str("name"))} }), func(l tables.Line) string { return l.Str("name") })...),
		makeGrid(names, 4*cardRows, "names", changeColumns(names, named("name", "name"), turn)...)})
}
