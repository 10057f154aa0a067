package report

import (
	"io"

	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// WriteText writes the answers: several as a table, one in full.
func (w *WhatIf) WriteText(to io.Writer, o TextOptions) error {
	t := newText(to, o, w.Tables())
	t.line("%s", t.bold(Shorten(Plain(w.Input), t.width)))
	t.line("window %s (%s), %s", tables.Duration(w.Window.Duration), Shorten(w.Window.name(), t.width-40), boundBy(w.BoundBy))
	t.line("")
	if len(w.Scenarios) == 1 {
		t.answer(w, &w.Scenarios[0])
		return t.w.Flush()
	}
	then := min(max(t.width-84, 14), 25)
	name := max(t.width-47-then, 12)
	t.line("  %11s %11s %7s  %-*s  %-8s  %s", "window", "saved", "", then, "bound by then", "trust", "what if")
	for i := range w.Scenarios {
		a := &w.Scenarios[i]
		t.line("  %11s %11s %7s  %-*s  %-8s  %s", tables.Duration(a.Window), tables.Duration(a.Saved), tables.FormatShare(a.SavedShare), then, mostOf(a, then), trust[a.Confidence], Shorten(Plain(a.Name), name))
	}
	return t.w.Flush()
}

// trust is what confidences are called in a narrow column.
var trust = map[string]string{"good": "good", "low": "low", "do_not_know": "unsure"}

// mostOf is the two classes with the most time of a simulated run, as far as there is room for them.
func mostOf(a *Answer, room int) string {
	var words []string
	for _, c := range ByTime(a.ByClass) {
		if len(words) < 2 && (len(words) == 0 || tables.ShareOf(a.ByClass[c], a.Window) >= 0.1) {
			words = append(words, ClassWords(c)+" "+tables.WholePercent(a.ByClass[c], max(a.Window, 1)))
		}
	}
	return fitting(words, room)
}

func (t *text) answer(w *WhatIf, a *Answer) {
	verdict := tables.Duration(a.Saved) + " of " + tables.Duration(w.Window.Duration) + " saved (" + tables.FormatShare(a.SavedShare) + ")"
	switch {
	case a.Saved < 0:
		verdict = tables.Duration(-a.Saved) + " longer than " + tables.Duration(w.Window.Duration) + " (" + tables.FormatShare(-a.SavedShare) + ")"
	case a.Saved == 0:
		verdict = "nothing saved of " + tables.Duration(w.Window.Duration)
	}
	t.line("%s: %s", Shorten(Plain(a.Name), max(t.width-len(verdict)-2, 30)), t.bold(verdict))
	t.line("window then %s, between %s and %s; its share of the path would promise %s", tables.Duration(a.Window), tables.Duration(a.Low), tables.Duration(a.High), tables.Duration(a.ShareSays))
	t.line("changes %s with %s of their own, %s of it on the path", tables.Counted(a.Events, "event"), tables.Duration(a.Own), tables.Duration(a.Critical))
	t.line("")
	if a.BoundBy == critpath.ClassIdle.String() {
		t.line("then %s", t.bold(boundBy(a.BoundBy)))
	} else {
		t.line("then bound by %s", t.bold(t.paint(colour(a.BoundBy), ClassWords(a.BoundBy))))
	}
	for _, c := range ByTime(a.ByClass) {
		t.line("  %-15s %8s %12s", ClassWords(c), tables.FormatShare(tables.ShareOf(a.ByClass[c], a.Window)), tables.Duration(a.ByClass[c]))
	}
	if len(a.Steps) > 0 {
		t.line("")
		t.changed("before", "after", "effect", "step")
		for i, s := range a.Steps {
			if t.middle(i, len(a.Steps)) {
				continue
			}
			t.changeOf(s.Before, s.After, Shorten(Plain(s.Name), t.width-45))
		}
	}
	if len(a.Hotspots) > 0 {
		t.line("")
		t.line("  %7s %12s  %-8s  %s", "share", "time", "kind", "hotspot then")
		for _, h := range a.Hotspots[:min(5, len(a.Hotspots))] {
			t.line("  %7s %12s  %-8s  %s", tables.FormatShare(h.Share), tables.Duration(h.NS), Shorten(h.Kind, 8), Shorten(Plain(h.Shown), t.width-34))
		}
	}
	t.line("")
	word := map[string]string{"good": "good", "low": "low: see what it assumes", "do_not_know": "none: what it does not know decides"}[a.Confidence]
	t.line("confidence %s", word)
	for _, l := range a.Limits {
		t.line("  assumes: %s", Shorten(l.Effect+" ("+Words(l.Reason)+", "+tables.Duration(l.NS)+")", t.width-11))
	}
}
