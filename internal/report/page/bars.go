package page

import (
	"cmp"
	"slices"

	"overlay/internal/cdg/phases"
	"overlay/internal/critpath"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// hex are the colours of the classes: those that the viewer gives them. The style sheet of the page has the same ones.
var hex = map[string]string{"cpu": "#2d6288", "gpu_compute": "#398f6f", "communication": "#a13bcc", "copy": "#cdc757", "launch": "#f4ad90",
	"sync": "#7acef3", "handoff": "#488dde", "unexplained": "#e645bf", "untraced": "#795826", "idle": "#59cdc6"}

// maxBars is how many steps are listed one by one. Of more the page shows how long they take, and the longest.
const maxBars = 24

// classParts are the classes of a stretch of the path side by side, most time first.
func classParts(byClass map[string]int64, duration, longest int64) (parts []part) {
	for _, c := range report.ByTime(byClass) {
		ns := byClass[c]
		parts = append(parts, part{c, tables.ShareOf(ns, longest), report.ClassWords(c) + " " + tables.FormatShare(tables.ShareOf(ns, duration)) + ", " + tables.Duration(ns)})
	}
	return parts
}

// pathKey explains the colours of the classes that a path has.
func pathKey(r *report.Report) (key []keyEntry) {
	for c := range critpath.NumClasses {
		if r.Path.ByClass[c.String()] > 0 {
			key = append(key, keyEntry{c.String(), c.Words()})
		}
	}
	return key
}

// stepGrid are the steps of the page: all of them, or the longest.
func stepGrid(r *report.Report, list []tables.Table) grid {
	t := tables.Find(list, "steps")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	order := make([]int, t.Rows)
	for i := range order {
		order[i] = i
	}
	if len(order) > maxBars {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Steps[b].Duration, r.Steps[a].Duration) })
		order = order[:cardRows]
	}
	longest := int64(most(t, "duration_ns"))
	var s *report.Step // of the row that is made
	columns := []column{label("step", func(l tables.Line) gridCell { return gridCell{Text: report.Plain(l.Str("name"))} }),
		bars("", func(tables.Line) []part { return classParts(s.ByClass, s.Duration, longest) }),
		figure(t, "time", "duration_ns"),
		{gridColumn{Head: "bound by"}, func(tables.Line) gridCell { return gridCell{Text: report.ClassWords(s.BoundBy)} }},
		extra(column{gridColumn{Head: "its share", Number: true, Unit: tables.Share}, func(tables.Line) gridCell {
			x := tables.ShareOf(s.ByClass[s.BoundBy], s.Duration)
			return gridCell{Text: tables.FormatShare(x), Exact: tables.Float(x).Exact()}
		}})}
	g := makeGrid(nil, 0, "steps", columns...)
	for _, i := range order {
		s = &r.Steps[i]
		g.add(t.Line(i), columns)
	}
	g.Left = t.Rows - len(order)
	return g
}

// stepNote says in a sentence how long steps take.
func stepNote(r *report.Report, list []tables.Table) string {
	t := tables.Find(list, "step_times")
	if t == nil || t.Rows == 0 || t.Line(0).Value("stats_count").Int() < 2 {
		return ""
	}
	l := t.Line(0)
	return l.Show("stats_count") + " steps: half of them take " + l.Show("stats_p50") + " and less, the shortest " + l.Show("stats_min") + ", the longest " + l.Show("stats_max") + "."
}

// lengthGrid shows how many steps take how long; without rows where all are listed.
func lengthGrid(r *report.Report, list []tables.Table) grid {
	t := tables.Find(list, "step_times_histogram")
	if t == nil || len(r.Steps) <= maxBars {
		return grid{}
	}
	longest := most(t, "count")
	return makeGrid(t, 64, "buckets",
		label("a step takes", func(l tables.Line) gridCell {
			return gridCell{Text: l.Show("from_ns") + " to " + l.Show("to_ns"), Exact: l.Exact("from_ns")}
		}),
		bars("", func(l tables.Line) []part {
			return without([]part{{"handoff", ratio(l.Value("count").Float(), longest), counted(l, "count", "step")}})
		}),
		figure(t, "steps", "count"))
}

// hotspotGrid is the time on the path by name.
func hotspotGrid(list []tables.Table) grid {
	t := tables.Find(list, "hotspots")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	longest := most(t, "critical_ns")
	return makeGrid(t, maxRows, "names", label("name", func(l tables.Line) gridCell {
		c := shownCell(l)
		if caller := l.Str("caller"); caller != "" {
			c.Small = "from " + report.Plain(caller)
		}
		return c
	}),
		bars("", func(l tables.Line) []part {
			return []part{{report.ClassOf(l.Str("kind")), ratio(l.Value("critical_ns").Float(), longest), ""}}
		}),
		figure(t, "of the window", "share_of_window"), figure(t, "time", "critical_ns"), figure(t, "calls", "calls"), wordsOf("kind", "kind"), wordsOf("phase", "phase"))
}

// gainGrid shows what replays say of each class and hotspot: how much shorter the window is without it.
func gainGrid(list []tables.Table) grid {
	t := tables.Find(list, "gains")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	longest := most(t, "saves_at_most_ns")
	return makeGrid(t, maxRows, "rows", label("without", func(l tables.Line) gridCell {
		if l.Str("what") == "class" {
			return gridCell{Text: l.Str("readable")}
		}
		return shownCell(l)
	}),
		bars("", func(l tables.Line) []part {
			return []part{{"pale", ratio(l.Value("saves_at_most_ns").Float(), longest), ""}}
		}),
		figure(t, "saves at most", "saves_at_most_ns"), figure(t, "of the window", "saves_at_most_share"), figure(t, "with half of it", "half_saves_ns"), extra(figure(t, "on the path", "critical_ns")),
		extra(label("then bound by", func(l tables.Line) gridCell { return gridCell{Text: report.ClassWords(l.Str("then_bound_by"))} })))
}

// unknownGrids show the time that no event owns, by reason and by what stands around it.
func unknownGrids(list []tables.Table, names report.Names) []grid {
	by, gaps := tables.Find(list, "unknown_time"), tables.Find(list, "gaps")
	if by == nil || by.Rows == 0 || gaps == nil {
		return nil
	}
	reasons, pairs := most(by, "ns"), most(gaps, "ns")
	kind := func(l tables.Line, whole float64) []part {
		return []part{{report.ClassOf(l.Str("kind")), ratio(l.Value("ns").Float(), whole), ""}}
	}
	return filled([]grid{
		makeGrid(by, cardRows, "reasons", label("likely reason, and how to record it", func(l tables.Line) gridCell {
			return gridCell{Text: report.KindWords(l.Str("kind")) + ": " + l.Str("likely"), Small: sentence(l.Str("record"))}
		}), bars("", func(l tables.Line) []part { return kind(l, reasons) }), figure(by, "of the window", "share_of_window"), figure(by, "time", "ns"), figure(by, "times", "count")),
		makeGrid(gaps, cardRows, "gaps", label("before it, and after it", func(l tables.Line) gridCell {
			before, after := cellOf(l.Str("before"), names.Readable(l.Str("before"))), cellOf(l.Str("after"), names.Readable(l.Str("after")))
			return gridCell{Text: cmp.Or(before.Text, "the start of the row"), Small: "then " + cmp.Or(after.Text, "the end of the row"), Title: cmp.Or(before.Title, after.Title)}
		}), bars("", func(l tables.Line) []part { return kind(l, pairs) }), figure(gaps, "of the window", "share_of_window"), figure(gaps, "time", "ns"), figure(gaps, "times", "count"), extra(figure(gaps, "longest", "longest_ns"))),
	})
}

// phaseNames are the names of the training phases in the order in which a step goes through them.
var phaseNames = []string{phases.DataLoad.String(), phases.Forward.String(), phases.Loss.String(), phases.Backward.String(), phases.Communication.String(), phases.Update.String(), phases.Other.String()}

// phaseGrid shows the busy time of the aggregated nodes by phase, in the order of training.
func phaseGrid(list []tables.Table) grid {
	t := tables.Find(list, "by_phase")
	if t == nil || most(t, "ns") == 0 {
		return grid{}
	}
	longest := most(t, "ns")
	columns := []column{label("phase", func(l tables.Line) gridCell { return gridCell{Text: l.Str("phase")} }),
		bars("", func(l tables.Line) []part { return []part{{"handoff", ratio(l.Value("ns").Float(), longest), ""}} }), figure(t, "busy", "ns")}
	g := makeGrid(nil, 0, "phases", columns...)
	for _, phase := range phaseNames {
		for l := range t.Lines(-1) {
			if l.Str("phase") == phase && l.Value("ns").Int() > 0 {
				g.add(l, columns)
			}
		}
	}
	return g
}

// nodeGrid are the nodes that hold most of the path.
func nodeGrid(list []tables.Table) grid {
	t := tables.Find(list, "nodes")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	t = t.Sorted("critical_ns")
	return makeGrid(t, cardRows, "nodes", label("node", func(l tables.Line) gridCell { return gridCell{Text: l.Show("id"), Exact: l.Exact("id")} }),
		wordsOf("phase", "phase"), wordsOf("row", "resource"), bar(t, "critical_ns", "handoff"), figure(t, "on the path", "critical_ns"), figure(t, "busy", "busy_ns"), figure(t, "events", "events"))
}
