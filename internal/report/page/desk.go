package page

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/report"
)

// Desk is what a page that can ask has beside the report: sliders, each of which changes something about the run.
type Desk struct {
	Sliders  []slider
	Places   []slider // ranks and hosts of a job
	Findings []slider // that are done or not
	Recorded recorded
}

// recorded is what the script of a page knows before it asks.
type recorded struct {
	Words   map[string]string `json:"words"`   // the classes as people know them
	Command string            `json:"command"` // that asks the same, up to what is to change
	Window  int64             `json:"window_ns"`
	BoundBy string            `json:"bound_by,omitempty"`
	ByClass map[string]int64  `json:"by_class,omitempty"`
	Strip   []report.Run      `json:"strip,omitempty"`
	Ends    int               `json:"ends_with_rank"`
	Ranks   []rankRow         `json:"ranks,omitempty"`
}

// slider multiplies the time of something: Change is the selector of it.
type slider struct{ Kind, Label, Change string }

// maxSliders is how many hotspots have a slider.
const maxSliders = 10

// selectors are the classes that a change can name.
var selectors = map[string]string{"gpu_compute": "compute", "communication": "comm", "copy": "copy", "cpu": "cpu", "launch": "launch", "sync": "sync", "handoff": "handoff"}

// NewDesk has the classes of the path, its hotspots, and the findings that say what to change. knows reports whether a replay understands a
// change; name is the file of the trace.
func NewDesk(r *report.Report, name string, knows func(change string) bool) *Desk {
	d := newDesk(name, r.Path.ByClass, knows)
	d.Recorded.Window, d.Recorded.BoundBy, d.Recorded.ByClass, d.Recorded.Strip = r.Window.Duration, r.Path.BoundBy, r.Path.ByClass, r.Path.Strip
	for n, i := 0, 0; i < len(r.Hotspots) && n < maxSliders; i++ {
		h := &r.Hotspots[i]
		if !strings.Contains(h.Readable, ";") && d.add(slider{report.ClassOf(h.Kind), report.Shorten(report.Plain(h.Readable), 80), h.Readable}, knows) {
			n++
		}
	}
	for i := 0; r.Advice != nil && i < len(r.Advice.Findings); i++ {
		if f := &r.Advice.Findings[i]; len(f.Changes()) > 0 {
			d.Findings = append(d.Findings, slider{f.Class().String(), report.Sentence(f.Title) + ": " + report.Plain(f.Do), fmt.Sprint("finding:", i)})
		}
	}
	return d
}

// newDesk has a slider for each class of a path.
func newDesk(name string, byClass map[string]int64, knows func(change string) bool) *Desk {
	d := &Desk{Recorded: recorded{Command: "overlay whatif '" + strings.ReplaceAll(name, "'", `'\''`) + "'", Words: map[string]string{"wait": "waiting"}}}
	for c := range critpath.NumClasses {
		d.Recorded.Words[c.String()] = c.Words()
	}
	for _, c := range report.ByTime(byClass) {
		if selectors[c] != "" {
			d.add(slider{c, "all " + report.ClassWords(c), "class:" + selectors[c]}, knows)
		}
	}
	return d
}

// add adds a slider that a replay understands, once. It reports whether it did.
func (d *Desk) add(s slider, knows func(change string) bool) bool {
	known := knows(s.Change+"=0.5") && !slices.ContainsFunc(d.Sliders, func(o slider) bool { return o.Change == s.Change })
	if known {
		d.Sliders = append(d.Sliders, s)
	}
	return known
}
