package page

import (
	"io"

	"overlay/internal/flame"
	"overlay/internal/report"
)

// content is what the page shows.
type content struct {
	*report.Report
	shown
	Composition []report.Part
	Lanes       lanes
	Flame       *flameView
}

// WriteReport writes a report as one page that needs nothing else: no network, no other file. With the path by stacks it has a flame graph.
func WriteReport(w io.Writer, r *report.Report, stacks *flame.Graph) error {
	list := r.Tables()
	return write(w, "report", content{r, list, report.ClassParts(r.Path.ByClass, r.Window.Duration, r.Window.Duration), windowLanes(r, list), flameOf(stacks)})
}
