package report

import (
	"html/template"

	"overlay/internal/tables"
)

// hex are the colours of the classes: those that the viewer gives them.
var hex = map[string]string{"cpu": "#2d6288", "gpu_compute": "#398f6f", "communication": "#a13bcc", "copy": "#cdc757", "launch": "#f4ad90",
	"sync": "#7acef3", "handoff": "#488dde", "unexplained": "#e645bf", "untraced": "#795826", "idle": "#59cdc6"}

// maxBars is how many bars stand in one place before the middle is left out.
const maxBars = 24

// bar is a line of a bar chart: a label, parts that stand side by side, and what they sum to in words.
type bar struct {
	Label string
	Parts []part
	Value string
	Left  int // how many bars are left out before this one
}

// part is a stretch of a bar.
type part struct {
	Of    float64 // of the longest bar
	Color template.CSS
	Title string
}

// stepBars stacks the classes of each step.
func (r *Report) stepBars() []bar {
	var longest int64
	for i := range r.Steps {
		longest = max(longest, r.Steps[i].Duration)
	}
	var out []bar
	for i := range r.Steps {
		if len(r.Steps) > maxBars && i >= maxBars/2 && i < len(r.Steps)-maxBars/2 {
			continue
		}
		s := &r.Steps[i]
		b := bar{Label: Plain(s.Name), Value: tables.Duration(s.Duration)}
		if len(r.Steps) > maxBars && i == len(r.Steps)-maxBars/2 {
			b.Left = len(r.Steps) - maxBars
		}
		for _, c := range byTime(s.ByClass) {
			ns := s.ByClass[c]
			b.Parts = append(b.Parts, part{tables.ShareOf(ns, longest), classColor(c),
				classWords[c] + " " + tables.FormatShare(tables.ShareOf(ns, s.Duration)) + ", " + tables.Duration(ns)})
		}
		out = append(out, b)
	}
	return out
}

// hotspotBars shows the hotspots.
func (r *Report) hotspotBars() []bar {
	var out []bar
	for i := range r.Hotspots[:min(len(r.Hotspots), maxBars)] {
		h := &r.Hotspots[i]
		out = append(out, one(Plain(h.Readable), h.NS, r.Hotspots[0].NS, kindClass[h.Kind]))
	}
	return out
}

// phaseBars shows the busy time of the aggregated nodes by phase, in the order of training.
func (r *Report) phaseBars() []bar {
	var longest int64
	for _, ns := range r.CDG.ByPhase {
		longest = max(longest, ns)
	}
	var out []bar
	for _, phase := range phaseNames {
		if ns := r.CDG.ByPhase[phase]; ns > 0 {
			out = append(out, one(phase, ns, longest, "handoff"))
		}
	}
	return out
}

func one(label string, ns, longest int64, class string) bar {
	return bar{Label: label, Parts: []part{{tables.ShareOf(ns, longest), classColor(class), ""}}, Value: tables.Duration(ns)}
}

// classColor is out of our own table, so the page may trust it.
func classColor(class string) template.CSS { return template.CSS(hex[class]) }
