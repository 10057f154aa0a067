package overlay

import (
	"slices"

	"overlay/internal/analyses"
)

// causeColors are the colours of drawn analysis slices; those of the classes that they speak of.
var causeColors = map[string]string{
	analyses.HostWait.String():   "cpu#966",
	analyses.KernelWait.String(): "launch#25195",
	analyses.OtherWait.String():  "sync.7896",
	"exposed communication":      "communication#16346",
}

// analysisTracks shows the rows of the analyses: a group below parent for each of their groups, in order of the rows.
// first is the index that the first track gets in Drawing.Tracks. Counters end with 0, or they would run on to the end
// of the trace.
func analysisTracks(rows []analyses.AddedRow, first, parent int) []Track {
	var out []Track
	groups := map[string]int{}
	for _, r := range rows {
		if _, ok := groups[r.Group]; !ok {
			groups[r.Group] = first + len(out)
			out = append(out, Track{Name: r.Group, Parent: parent, Category: CategoryAnalysis, Description: "From the analyses that were asked for with --analysis."})
		}
	}
	for _, r := range rows {
		t := Track{Name: r.Name, Parent: groups[r.Group], Category: CategoryAnalysis, Description: r.About, Counter: r.Unit != "", Unit: r.Unit, Points: r.Points}
		if n := len(t.Points); n > 0 && t.Points[n-1].Value != 0 && r.Unit != "bytes" {
			t.Points = append(slices.Clip(t.Points), analyses.Point{TS: t.Points[n-1].TS + 1})
		}
		for _, s := range r.Slices {
			t.Slices = append(t.Slices, Slice{Start: s.Start, Dur: s.End - s.Start, Name: s.Name, Color: causeColors[s.Name]})
		}
		out = append(out, t)
	}
	return out
}
