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
	if 10*w.Earlier >= w.Window.Duration {
		t.line("shares are of %s, without work from before recording", tables.Duration(w.Window.Duration-w.Earlier))
	}
	t.line("")
	if len(w.Scenarios) == 1 {
		t.answer(w, &w.Scenarios[0])
		return t.w.Flush()
	}
	all := t.table("scenarios")
	g := gridOf(all, all.Rows, "scenarios", asked(), figure(all, "window", "window_ns"), figure(all, "saved", "saved_ns"), figure(all, "of it", "saved_share"),
		wordsBy("made of then", func(l tables.Line) string {
			a := &w.Scenarios[l.Row]
			return mostly(a.ByClass, a.Window, 2)
		}), trust())
	t.grid(&g, all.Rows)
	return t.w.Flush()
}

// asked is the column of the name of a scenario.
func asked() Column {
	return label("what if", func(l tables.Line) Cell { return cellOf(l.Str("name"), l.Str("name")) })
}

// trust is the column of confidences.
func trust() Column {
	return wordsBy("trust", func(l tables.Line) string {
		if c := l.Str("confidence"); c != "do_not_know" {
			return c
		}
		return "unsure"
	})
}

func (t *text) answer(w *WhatIf, a *Answer) {
	whole := tables.Duration(w.Window.Duration - w.Earlier)
	verdict := tables.Duration(a.Saved) + " of " + whole + " saved (" + tables.FormatShare(a.SavedShare) + ")"
	switch {
	case a.Saved < 0:
		verdict = tables.Duration(-a.Saved) + " longer than " + whole + " (" + tables.FormatShare(-a.SavedShare) + ")"
	case a.Saved == 0:
		verdict = "nothing saved of " + whole
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
	t.classes(a.ByClass, a.Window)
	if len(a.Steps) > 0 {
		t.line("")
		steps := t.table("scenarios_steps")
		effect := Column{Head: "effect", Number: true, cell: func(l tables.Line) Cell {
			return Cell{Text: tables.Signed(l.Value("after_ns").Int() - l.Value("before_ns").Int())}
		}}
		g := gridOf(steps, cardRows, "steps", textual("step", "{step}"), figure(steps, "before", "before_ns"), figure(steps, "after", "after_ns"), effect)
		t.grid(&g, cardRows)
	}
	if len(a.Hotspots) > 0 {
		t.line("")
		spots := t.table("scenarios_hotspots")
		g := gridOf(spots, 5, "names", label("hotspot then", shownCell), figure(spots, "share", "share"), figure(spots, "time", "critical_ns"), wordsOf("kind", "{kind}"))
		t.grid(&g, 5)
	}
	t.line("")
	word := map[string]string{"good": "good", "low": "low: see what it assumes", "do_not_know": "none: what it does not know decides"}[a.Confidence]
	t.line("confidence %s", word)
	for _, l := range a.Limits {
		t.line("  assumes: %s", Shorten(l.Effect+" ("+Words(l.Reason)+", "+tables.Duration(l.NS)+")", t.width-11))
	}
}
