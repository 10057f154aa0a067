package page

import (
	"io"

	"overlay/internal/critpath"
	"overlay/internal/flame"
	"overlay/internal/report"
)

// content is what the page shows.
type content struct {
	*report.Report
	Composition []report.Part
	Lanes       lanes
	Flame       *flameView
	Desk        *Desk
}

// Desk is what a page that can ask has beside the report: sliders, each of which changes something about the run.
type Desk struct {
	Sliders  []Slider
	Findings []Slider // that are done or not
	Command  string   // that asks the same, up to what is to change
}

// Slider multiplies the time of something: Change is the selector of it.
type Slider struct{ Kind, Label, Change string }

// Words are the classes as people know them.
func (d *Desk) Words() map[string]string {
	words := map[string]string{}
	for c := range critpath.NumClasses {
		words[c.String()] = c.Words()
	}
	return words
}

// WriteReport writes a report as one page that needs nothing else: no network, no other file. With the path by stacks it has a flame graph.
func WriteReport(w io.Writer, r *report.Report, stacks *flame.Graph) error {
	return WriteDesk(w, r, stacks, nil)
}

// WriteDesk writes the same page with sliders, which ask whoever serves it.
func WriteDesk(w io.Writer, r *report.Report, stacks *flame.Graph, d *Desk) error {
	list := r.Tables()
	return write(w, "report", content{r, report.ClassParts(r.Path.ByClass, r.Window.Duration, r.Window.Duration), windowLanes(r, list), flameOf(stacks), d})
}
