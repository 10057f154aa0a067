package report

import (
	"fmt"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

// Bound is what bounds the run in words. Where several classes hold about as much, or none holds half, all of them are named:
// one of them alone would not say where the time is. Time that no event owns bounds nothing: what it probably was does.
func (r *Report) Bound() string {
	p := &r.Path
	if u := r.unknownOf(p.BoundBy); u != nil {
		return "bound by what was not recorded: " + u.Likely
	}
	order := ByTime(p.ByClass)
	if len(order) == 0 || r.Window.Duration <= 0 {
		return boundBy(p.BoundBy)
	}
	share := func(class string) string { return tables.WholePercent(p.ByClass[class], r.Window.Duration) }
	first := p.ByClass[p.BoundBy]
	if p.BoundBy == critpath.ClassIdle.String() {
		for _, c := range order {
			if c != p.BoundBy {
				return fmt.Sprintf("%s (%s), then bound by %s (%s)", boundBy(p.BoundBy), share(p.BoundBy), boundWords(c), share(c))
			}
		}
		return boundBy(p.BoundBy)
	}
	var named []string
	for _, c := range order {
		if ns := p.ByClass[c]; c == p.BoundBy || 2*ns >= first && 20*ns >= r.Window.Duration && (2*first < r.Window.Duration || 3*ns >= 2*first) {
			named = append(named, boundWords(c)+" ("+share(c)+")")
		}
	}
	if len(named) < 2 {
		return boundBy(p.BoundBy)
	}
	last := len(named) - 1
	return "bound by " + strings.Join(named[:last], ", ") + " and " + named[last]
}

// boundBy says of a class that it bounds the run.
func boundBy(class string) string {
	if class == critpath.ClassIdle.String() {
		return "mostly waiting for work"
	}
	return "bound by " + ClassWords(class)
}

// boundWords is a class as what bounds a run.
func boundWords(class string) string {
	if class == critpath.ClassUntraced.String() {
		return "host code that was not recorded"
	}
	return ClassWords(class)
}

// blindShare is the share of the window from which on it is said that what bounds the run is a name only.
const blindShare = 0.2

// Blind says where the trace tells no more of what bounds the run than a name: "" where it tells enough.
func (r *Report) Blind() string {
	whole := r.Window.Duration
	if ns := r.Path.ByKind[critpath.GPUUnrecorded.String()]; tables.ShareOf(ns, whole) >= blindShare {
		return tables.FormatShare(tables.ShareOf(ns, whole)) + " of the window is GPU work of which only the end is known: it was not recorded"
	}
	if beside := r.besideCollectives(); beside != nil {
		return "most of it is waiting: " + beside.Saw
	}
	if len(r.Hotspots) == 0 || r.Path.BoundBy != critpath.ClassCPU.String() {
		return ""
	}
	h := &r.Hotspots[0]
	_, _, call := vendors.BackendCall(h.Name)
	if call || !h.marked || strings.HasPrefix(h.Name, "enumerate(DataLoader)") || h.ShareOfWindow < blindShare {
		return ""
	}
	return fmt.Sprintf("%s of the window is %s itself: what ran or waited there was not recorded", tables.FormatShare(h.ShareOfWindow), Plain(h.Readable))
}

// besideCollectives is the finding that a run without devices waits for collectives of its CPUs, which the path counts as CPU: nil
// where it does not for the most part.
func (r *Report) besideCollectives() *advise.Finding {
	if r.Advice == nil || r.Path.BoundBy != critpath.ClassCPU.String() || r.Path.ByClass[critpath.ClassComm.String()] > 0 {
		return nil
	}
	for i := range r.Advice.Findings {
		if f := &r.Advice.Findings[i]; f.ID == "comm-exposed" && f.Share >= 0.5 {
			return f
		}
	}
	return nil
}
