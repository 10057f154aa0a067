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
func changeColumns(t *tables.Table, names [2]string, first column, kind func(l tables.Line) string) []column {
	most := 0.0
	for l := range t.Lines(-1) {
		most = max(most, math.Abs(l.Value("effect_ns").Float()))
	}
	effect := bars("", func(l tables.Line) []part {
		return without([]part{{kind(l), ratio(math.Abs(l.Value("effect_ns").Float()), most), l.Show("effect_ns")}})
	})
	return []column{first, effect, figure(t, names[0], "before_ns"), figure(t, names[1], "after_ns"), figure(t, "effect", "effect_ns")}
}

// side is a bar of a difference.
type side struct {
	Label string
	Parts []part
}

func twoSides(names [2]string, paths [2]pathBar) []side {
	longest := max(paths[0].duration, paths[1].duration)
	var list []side
	for i, p := range paths {
		list = append(list, side{names[i], classParts(p.byClass, p.duration, longest)})
	}
	return list
}

// WriteDifference writes a difference as one page that needs nothing else.
func WriteDifference(w io.Writer, d *report.Difference) error {
	list := d.Tables()
	labels := d.Labels()
	classes, names := tables.Find(list, "classes"), tables.Find(list, "hotspots")
	earlier := ""
	if d.Steps != nil && d.Steps.Earlier.Before+d.Steps.Earlier.After > 0 {
		l := tables.Find(list, "earlier").Line(0)
		earlier = "Of the two paths " + l.Show("before_ns") + " and " + l.Show("after_ns") + " is work that was launched before the step began."
	}
	calls := label("calls", func(l tables.Line) gridCell {
		a, b := l.Show("before_calls"), l.Show("after_calls")
		if a != b {
			a += " → " + b
		}
		return gridCell{Text: a}
	})
	return page().ExecuteTemplate(w, "difference", struct {
		*report.Difference
		shown
		Head, Verdict          string
		Sides                  []side
		ClassGrid, HotspotGrid grid
		Earlier                string // of steps
	}{d, list, pageTitle(d), d.Verdict(), twoSides(labels, paths(d)),
		makeGrid(classes, maxRows, "classes", changeColumns(classes, labels, label("class", func(l tables.Line) gridCell { return gridCell{Text: report.ClassWords(l.Str("name"))} }), func(l tables.Line) string { return l.Str("name") })...),
		makeGrid(names, 4*cardRows, "names", append(changeColumns(names, labels, label("name", shownCell), turn), calls)...), earlier})
}

// pageTitle names a difference where a browser lists its pages.
func pageTitle(d *report.Difference) string {
	if d.Steps != nil {
		return d.Subject()
	}
	return report.Shorten(report.Plain(d.Before.Input.Name), 40) + " against " + report.Shorten(report.Plain(d.After.Input.Name), 40)
}
