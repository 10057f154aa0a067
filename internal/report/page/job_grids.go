package page

import (
	"cmp"
	"slices"

	"overlay/internal/report"
	"overlay/internal/tables"
)

func (p *jobPage) chargeGrid() grid {
	t := tables.Find(p.list, "charged")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	longest := most(t, "ns")
	return makeGrid(t, cardRows, "causes", label("what the rank did", func(l tables.Line) gridCell {
		c := nameCell(cmp.Or(l.Str("name"), report.ClassWords(l.Str("class"))))
		c.Small = "rank " + l.Show("rank")
		return c
	}),
		bars("", func(l tables.Line) []part {
			return []part{{l.Str("class"), ratio(l.Value("ns").Float(), longest), report.ClassWords(l.Str("class"))}}
		}),
		figure(t, "waited for it", "ns"))
}

// group names a group by its number.
func (p *jobPage) group(l tables.Line) gridCell {
	return gridCell{Text: report.GroupName(&p.r.Job.Groups[l.Value("group").Int()])}
}

func (p *jobPage) groupGrid() grid {
	t := tables.Find(p.list, "collectives_by_group")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	t = t.Sorted("wait_ns")
	longest := 0.0
	for l := range t.Lines(-1) {
		longest = max(longest, l.Value("wait_ns").Float())
	}
	return makeGrid(t, cardRows, "kinds", label("collective", func(l tables.Line) gridCell {
		return gridCell{Text: report.Words(l.Str("name")), Small: p.group(l).Text}
	}),
		bars("waits", func(l tables.Line) []part {
			return []part{{"pale", ratio(l.Value("wait_ns").Float(), longest), l.Show("wait_ns")}}
		}),
		figure(t, "waited", "wait_ns"), figure(t, "transfers", "transfer_ns"), figure(t, "operations", "count"), extra(figure(t, "of their time", "wait_ratio")))
}

func (p *jobPage) bandwidthGrid() grid {
	t := tables.Find(p.list, "bandwidth")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	longest := most(t, "expected")
	return makeGrid(t, maxRows, "sizes", label("collective", func(l tables.Line) gridCell {
		return gridCell{Text: report.Words(l.Str("name")) + " of " + l.Show("bytes_bucket"), Small: tables.Counted(int(l.Value("group_size").Int()), "rank") + ", " + l.Str("topology")}
	}),
		bars("", func(l tables.Line) []part {
			m, e := l.Value("busbw_median").Float(), l.Value("expected").Float()
			return without([]part{{"communication", ratio(m, longest), "half of them reach " + l.Show("busbw_median")}, {"nothing", ratio(max(e-m, 0), longest), "expected " + l.Show("expected")}})
		}),
		figure(t, "median", "busbw_median"), figure(t, "best", "busbw_best"), figure(t, "expected", "expected"), extra(figure(t, "operations", "count")))
}

func (p *jobPage) linkGrid() grid {
	t := tables.Find(p.list, "links")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	return makeGrid(t, cardRows, "groups", label("group", p.group), wordsOf("collective", "class"), wordsOf("topology", "topology"), figure(t, "takes", "median_ns"), figure(t, "elsewhere", "best_ns"))
}

// rankGrid lists the ranks, of many those with most of the path and those for which most is waited.
func (p *jobPage) rankGrid() grid {
	t := tables.Find(p.list, "ranks")
	if t == nil || t.Rows == 0 {
		return grid{}
	}
	order := make([]int, t.Rows)
	for i := range order {
		order[i] = i
	}
	const all = 16
	if len(order) > all {
		r := p.r.Job.Ranks
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Or(cmp.Compare(r[b].Path, r[a].Path), cmp.Compare(r[b].Caused, r[a].Caused))
		})
		order = order[:all]
	}
	longest := max(most(t, "path_ns"), 1)
	columns := []column{label("rank", func(l tables.Line) gridCell {
		return gridCell{Text: "rank " + l.Show("rank"), Small: report.Plain(l.Str("host")), Exact: l.Exact("rank")}
	}),
		bars("of the path", func(l tables.Line) []part {
			return []part{{"handoff", ratio(l.Value("path_ns").Float(), longest), l.Show("path_ns")}}
		}),
		figure(t, "path", "path_ns"), figure(t, "waited", "wait_ns"), figure(t, "others waited for it", "caused_wait_ns"), extra(figure(t, "events", "events"))}
	g := makeGrid(nil, 0, "ranks", columns...)
	for _, i := range order {
		g.add(t.Line(i), columns)
	}
	g.Left = t.Rows - len(order)
	return g
}
