package report

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/serving"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// iterations prints those of a server by type.
func (t *text) iterations(r *Report) {
	if len(r.Iterations) == 0 {
		return
	}
	t.head("iterations of the server, medians")
	t.line("  %-9s %6s %6s %7s %11s %11s %11s %11s %8s %9s", "type", "count", "batch", "tokens", "marker", "p99", "host gap", "time", "GPU busy", "tokens/s")
	number := func(n *int64) string {
		if n == nil {
			return "–"
		}
		return tables.Plain(*n)
	}
	for i := range r.Iterations {
		x := &r.Iterations[i]
		t.line("  %-9s %6s %6s %7s %11s %11s %11s %11s %8s %9s", x.Type, tables.Plain(int64(x.Count)), number(x.Batch), number(x.Tokens), tables.Duration(x.Marker), tables.Duration(x.P99), tables.Duration(x.Gap),
			tables.Duration(x.Time), tables.FormatShare(x.Busy), number(x.PerS))
	}
	for i := range r.Iterations {
		x := &r.Iterations[i]
		for _, s := range sentences(x) {
			t.para(s)
		}
	}
	if s := r.CutInto(); s != "" {
		t.para(s)
	}
}

// sentences say by what an iteration is bound, and what replays of it gave.
func sentences(x *serving.Type) (list []string) {
	total := int64(0)
	for _, ns := range x.ByClass {
		total += ns
	}
	var parts []string
	for _, c := range ByTime(x.ByClass) {
		if ns := x.ByClass[c]; 50*ns >= total {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", ClassWords(c), tables.Duration(ns), tables.WholePercent(ns, total)))
		}
	}
	what := x.Type
	if what == trace.Decode.String() {
		what += ", an output token of each request"
	}
	list = append(list, what+": "+strings.Join(parts, ", "))
	parts = nil
	for _, r := range x.Replays {
		parts = append(parts, fmt.Sprintf("%s with %s", tables.Duration(r.Time), r.Change))
	}
	if len(parts) > 0 {
		list = append(list, "  replayed: "+strings.Join(parts, ", "))
	}
	return list
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
