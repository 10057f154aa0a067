package page

import (
	"io"

	"overlay/internal/flame"
	"overlay/internal/report"
)

// content is what the page shows.
type content struct {
	*report.Report
	Bound, Devices string
	Doubts, Trust  []string
	Highlights     []report.Finding
	Sections       [4][]report.Section
	Steady         int64 // of the window, ns
	Classes        map[string]int64
	Composition    []report.Part
	Lanes          lanes
	Flame          *flameView
	Desk           *Desk
}

// WriteReport writes a report as one page that needs nothing else: no network, no other file. With the path by stacks it has a flame graph.
func WriteReport(w io.Writer, r *report.Report, stacks *flame.Graph) error {
	return WriteDesk(w, r, stacks, nil)
}

// WriteDesk writes the same page with sliders, which ask whoever serves it.
func WriteDesk(w io.Writer, r *report.Report, stacks *flame.Graph, d *Desk) error {
	ns, classes := r.Steady()
	return write(w, "report", content{r, r.Bound(), r.Devices(), r.Doubts(), r.Trust(), r.Highlights(), r.Sections(),
		ns, classes, report.ClassParts(classes, ns, ns), windowLanes(r, r.Tables()), flameOf(stacks), d})
}
