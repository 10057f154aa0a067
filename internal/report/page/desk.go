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
	Findings []slider          // that are done or not
	Command  string            // that asks the same, up to what is to change
	Words    map[string]string // the classes as people know them
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
	d := &Desk{Command: "overlay whatif '" + strings.ReplaceAll(name, "'", `'\''`) + "'", Words: map[string]string{}}
	for c := range critpath.NumClasses {
		d.Words[c.String()] = c.Words()
	}
	add := func(s slider) bool {
		known := knows(s.Change+"=0.5") && !slices.ContainsFunc(d.Sliders, func(o slider) bool { return o.Change == s.Change })
		if known {
			d.Sliders = append(d.Sliders, s)
		}
		return known
	}
	for _, c := range report.ByTime(r.Path.ByClass) {
		if selectors[c] != "" {
			add(slider{c, "all " + report.ClassWords(c), "class:" + selectors[c]})
		}
	}
	for n, i := 0, 0; i < len(r.Hotspots) && n < maxSliders; i++ {
		h := &r.Hotspots[i]
		if !strings.Contains(h.Readable, ";") && add(slider{report.ClassOf(h.Kind), report.Shorten(report.Plain(h.Readable), 80), h.Readable}) {
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
