package page

import (
	"io"

	"overlay/internal/report"
	"overlay/internal/tables"
)

// side is a bar of a difference.
type side struct {
	Label string
	Parts []report.Part
}

func twoSides(names [2]string, paths [2]pathBar) []side {
	longest := max(paths[0].duration, paths[1].duration)
	var list []side
	for i, p := range paths {
		list = append(list, side{names[i], report.ClassParts(p.byClass, p.duration, longest)})
	}
	return list
}

// WriteDifference writes a difference as one page that needs nothing else.
func WriteDifference(w io.Writer, d *report.Difference) error {
	list := d.Tables()
	earlier := ""
	if d.Steps != nil && d.Steps.Earlier.Before+d.Steps.Earlier.After > 0 {
		l := tables.Find(list, "earlier").Line(0)
		earlier = "Of the two paths " + l.Show("before_ns") + " and " + l.Show("after_ns") + " is work that was launched before the step began."
	}
	return write(w, "difference", struct {
		*report.Difference
		shown
		Head    string
		Sides   []side
		Earlier string // of steps
	}{d, list, pageTitle(d), twoSides(d.Labels(), paths(d)), earlier})
}

// pageTitle names a difference where a browser lists its pages.
func pageTitle(d *report.Difference) string {
	if d.Steps != nil {
		return d.Subject()
	}
	return report.Shorten(report.Plain(d.Before.Input.Name), 40) + " against " + report.Shorten(report.Plain(d.After.Input.Name), 40)
}
