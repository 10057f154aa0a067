package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// iterationGrid lists the types of iterations of a server: medians, with what the path of one is made of.
func (r *Report) iterationGrid(t *tables.Table) Grid {
	if t == nil {
		return Grid{}
	}
	longest := int64(0)
	for i := range r.Iterations {
		longest = max(longest, total(r.Iterations[i].ByClass))
	}
	return gridOf(t, maxRows, "types", textual("medians of", "{type}"), bars("", func(l tables.Line) []Part {
		x := r.Iterations[l.Row].ByClass
		return ClassParts(x, total(x), longest)
	}), figure(t, "count", "count"), figure(t, "takes", "time_ns"), figure(t, "host gap", "host_gap_ns"), figure(t, "GPU busy", "gpu_busy_share"), figure(t, "tokens/s", "tokens_per_s"),
		extra(figure(t, "batch", "batch")), extra(figure(t, "tokens", "tokens")), extra(figure(t, "marker", "marker_ns")), extra(figure(t, "p99", "marker_p99_ns")))
}

func total(byClass map[string]int64) (ns int64) {
	for _, n := range byClass {
		ns += n
	}
	return ns
}

// servedWords say by what iterations of each type are bound, and what replays of them gave.
func (r *Report) servedWords() string {
	var words []string
	for i := range r.Iterations {
		x := &r.Iterations[i]
		var parts []string
		for _, c := range ByTime(x.ByClass) {
			if ns := x.ByClass[c]; 50*ns >= total(x.ByClass) {
				parts = append(parts, fmt.Sprintf("%s %s (%s)", ClassWords(c), tables.Duration(ns), tables.WholePercent(ns, total(x.ByClass))))
			}
		}
		what := Sentence(x.Type)
		switch {
		case x.Type == trace.Verify.String():
			what += ", an output token of each request or more"
		case x.Type == trace.Decode.String() && x.Batch != nil && x.Tokens != nil && *x.Batch == *x.Tokens:
			what += ", an output token of each request"
		}
		what += ": " + strings.Join(parts, ", ")
		for k, c := range x.Replays {
			what += []string{"; replayed ", ", "}[min(k, 1)] + tables.Duration(c.Time) + " with " + c.Change
		}
		words = append(words, what)
	}
	return strings.Join(append(words, nonEmpty(Sentence(r.CutInto()))...), ". ") + "."
}

// CutInto says that recording began while iterations ran, "" where it did not.
func (r *Report) CutInto() string {
	if ns := r.earlier(); ns > 0 && len(r.Iterations) > 0 {
		return fmt.Sprintf("recording began in running work: %s of the window is of iterations before it, which no iteration counts; the first one is left out where there are more of its type", tables.Duration(ns))
	}
	return ""
}

// earlier is how long the window is at its begin in work that was launched before it was recorded.
func (r *Report) earlier() int64 {
	if i := slices.IndexFunc(r.Unknown, func(u Unknown) bool { return u.Reason == critpath.QueuedBefore.String() }); i >= 0 {
		return r.Unknown[i].NS
	}
	return 0
}

// Steady is how long the window is without work from before recording, and what its path is made of: the window of a server alone is shorter
// than the recorded one.
func (r *Report) Steady() (ns int64, byClass map[string]int64) {
	if r.bounds == nil || r.bounds.Lead() == 0 {
		return r.Window.Duration, r.Path.ByClass
	}
	byClass = maps.Clone(r.Path.ByClass)
	if byClass[critpath.ClassCompute.String()] -= r.bounds.Lead(); byClass[critpath.ClassCompute.String()] == 0 {
		delete(byClass, critpath.ClassCompute.String())
	}
	return r.Window.Duration - r.bounds.Lead(), byClass
}

// own is how long the window is without work that was launched before it was recorded, where that is a tenth of it and more: no change of the
// program makes that shorter, and shares of all would say nothing of what can be.
func (r *Report) own() (ns int64, shorter bool) {
	ns, shorter = r.Window.Duration, false
	if e := r.earlier(); 10*e >= ns && e < ns {
		ns, shorter = ns-e, true
	}
	return ns, shorter
}

// withoutEarlier says that shares are of what own gives.
func (r *Report) withoutEarlier() string {
	if _, shorter := r.own(); shorter {
		return " Shares are without work from before recording."
	}
	return ""
}

// ofWindow is a column with shares of the window, for which there are times too.
func (r *Report) ofWindow(t *tables.Table, share, time string) Column {
	c := figure(t, "of the window", share)
	if own, shorter := r.own(); shorter {
		c.Head, c.cell = "of "+tables.Duration(own), func(l tables.Line) Cell { return shareCell(l.Value(time).Int(), own) }
	}
	return c
}
