package report

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/tables"
)

// Title says what bounds the job: who is slow, else on which ranks the path is.
func (r *JobReport) Title() string {
	if r.Headline != "" {
		return Sentence(Plain(r.Headline))
	}
	if r.Job.Matching.Instances == 0 && len(r.Job.Ranks) > 1 {
		return "Ranks that have no collectives in common"
	}
	on := r.recorded()
	words := "Bound by " + ClassWords(r.Job.Path.BoundBy)
	known := max(r.Job.Path.Duration-r.Job.Path.Unrecorded-r.Job.Path.Missing, 1)
	switch {
	case len(on) == 0:
	case on[0].NS*10 < known*3:
		words += " over " + tables.Counted(len(on), "rank")
	default:
		words += " on " + r.RankWhere(on[0].Rank) + " (" + tables.WholePercent(on[0].NS, known) + ")"
		if len(on) > 1 && on[1].NS*10 >= known {
			words += " and " + r.RankWhere(on[1].Rank) + " (" + tables.WholePercent(on[1].NS, known) + ")"
		}
	}
	return words
}

// Lead says how much of the job is there, and what the path does.
func (r *JobReport) Lead() string {
	j := &r.Job
	window := "a window of"
	if j.Window.Step != nil {
		window = "step " + tables.Plain(int64(*j.Window.Step)) + ","
	}
	return fmt.Sprintf("%s of %s in %s %s. The path jumps %s from rank to rank; %s of all ranks' time is spent waiting in collectives.", tables.Counted(len(j.Ranks), "rank"),
		tables.Grouped(int64(j.World)), window, tables.Duration(j.Window.Duration), tables.Counted(j.Path.JumpCount, "time"), tables.FormatShare(j.Waits.Ratio))
}

// Events is how many events the traces hold.
func (r *JobReport) Events() (n int) {
	for i := range r.Job.Ranks {
		n += r.Job.Ranks[i].Events
	}
	return n
}

// Findings are what is most worth knowing.
func (r *JobReport) Findings() (out []Finding) {
	j := &r.Job
	for i := range j.Stragglers {
		s := &j.Stragglers[i]
		cause, advice := CauseText(s)
		f := Finding{Kind: "slower", Value: tables.FormatShare(s.Share), About: fmt.Sprintf("of %s of %s, %s", tables.Plain(int64(len(s.Steps))), tables.Counted(r.judged, "step"), Words(s.Kind)),
			Title: Sentence(r.StragglerWhere(s)) + ": " + cause, Text: Sentence(cmp.Or(advice, "it has more work than the ranks that do the same")) + "."}
		if len(s.Names) > 0 {
			f.Text += " Most in " + Plain(Readable(s.Names[0].Name)) + ", " + tables.Duration(s.Names[0].Excess) + " more."
		}
		if s.Gains != "" {
			f.Text += " " + Sentence(s.Gains) + "."
		}
		if out = append(out, f); len(out) == 2 {
			break
		}
	}
	if j.Path.Unrecorded*50 >= j.Path.Duration && len(j.Path.strip) > 0 {
		out = append(out, Finding{Kind: "untraced", Value: tables.FormatShare(tables.ShareOf(j.Path.Unrecorded, j.Path.Duration)), About: "of the window",
			Title: "The trace of " + r.RankWhere(j.Path.strip[0].rank) + " begins late", Text: "Profilers do not start together: the first collectives show that, and nothing of the network."})
	}
	if len(j.Waits.Charged) > 0 {
		by := map[int]int64{}
		top := 0
		for _, c := range j.Waits.Charged {
			if by[c.Rank] += c.NS; by[c.Rank] > by[top] || by[c.Rank] == by[top] && c.Rank < top {
				top = c.Rank
			}
		}
		k := slices.IndexFunc(j.Waits.Charged, func(c Charge) bool { return c.Rank == top })
		out = append(out, Finding{Kind: j.Waits.Charged[k].Class, Value: tables.RankTime(by[top]), About: "of " + tables.RankTime(j.Waits.Total) + " waited in all",
			Title: "Most is waited for " + r.RankWhere(top), Text: "Most of that while it was in " + Plain(Readable(j.Waits.Charged[k].Name)) + "."})
	}
	if len(j.Links) > 0 {
		l := &j.Links[0]
		out = append(out, Finding{Kind: "communication", Value: "×" + tables.Fixed(l.Ratio, 2), About: "as long as in the fastest group", Title: "A slow link: group " + GroupName(&j.Groups[l.Group]),
			Text: Sentence(l.Class) + " takes " + tables.Duration(l.Median) + ", elsewhere " + tables.Duration(l.Best) + "."})
	}
	return out[:min(len(out), TopFindings)]
}

// Trust says what the report rests on.
func (r *JobReport) Trust() (out []string) {
	j := &r.Job
	c, m := &j.Clock, &j.Matching
	switch {
	case c.Trusted:
		out = append(out, "Time stamps were taken as they are (--trust-clocks).")
	case m.Instances == 0:
		out = append(out, "The ranks have no collectives in common: each is on its own clock, and nothing is known of who waits for whom.")
	default:
		out = append(out, fmt.Sprintf("Clocks were solved from when collectives end: corrections of up to %s, which may be off by %s.", tables.Duration(c.Largest), tables.Duration(c.Error)))
	}
	if m.Instances > 0 {
		out = append(out, fmt.Sprintf("%s of two or more ranks were matched, %s of them in part; %s have no partner, %s left before the last rank came.", tables.Counted(m.Instances, "collective"),
			tables.Grouped(int64(m.Partial)), tables.Counted(m.Unmatched, "operation"), tables.Counted(c.Violations, "collective")))
	}
	if c.Components > 1 && !c.Trusted && m.Instances > 0 {
		out = append(out, tables.Counted(c.Components, "set")+" of ranks share no collectives: nothing is said of waits between them.")
	}
	if len(j.Missing) > 0 {
		out = append(out, fmt.Sprintf("%s without a trace: %s.", tables.Counted(len(j.Missing), "rank"), Shorten(RankRanges(j.Missing), 200)))
	}
	if r.judged < 2 {
		out = append(out, tables.Counted(r.judged, "step")+" complete on every rank: stragglers need two to be judged.")
	}
	for i, x := range j.Ignored {
		if i == 5 {
			out = append(out, tables.Counted(len(j.Ignored)-i, "more input")+" left out.")
			break
		}
		out = append(out, "Left out: "+Plain(x.Source)+": "+Plain(x.Why))
	}
	for _, n := range j.Notes {
		out = append(out, Sentence(Plain(n))+".")
	}
	return out
}

// recorded is the time of the path on each rank, without what is not recorded, most first.
func (r *JobReport) recorded() (list []RankTime) {
	on, start := map[int]int64{}, r.Job.Window.Start
	for _, s := range r.Job.Path.strip {
		if !s.unknown {
			on[s.rank] += s.end - start
		}
		start = s.end
	}
	for rank, ns := range on {
		list = append(list, RankTime{rank, ns})
	}
	slices.SortFunc(list, func(a, b RankTime) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Rank, b.Rank)) })
	return list
}

// Sections are the tables of the page of a job, in order. Those without tables have nothing to show.
func (r *JobReport) Sections() []Section {
	list := r.Tables()
	group := func(l tables.Line) Cell { return Cell{Text: GroupName(&r.Job.Groups[l.Value("group").Int()])} }
	charged, totals, rates, links := tables.Find(list, "charged"), tables.Find(list, "collectives_by_group"), tables.Find(list, "bandwidth"), tables.Find(list, "links")
	if totals != nil {
		totals = totals.Sorted("wait_ns")
	}
	slow := gridOf(links, cardRows, "groups", label("group", group), wordsOf("collective", "{class}"), wordsOf("topology", "{topology}"), figure(links, "takes", "median_ns"), figure(links, "elsewhere", "best_ns"))
	slow.Title = "Groups slower than their sisters"
	return []Section{
		{"waits", "What was waited for", "Every wait in a collective, charged to what the rank that came last did meanwhile. Times are summed over the ranks that waited.", filled([]Grid{gridOf(charged, cardRows, "causes",
			label("what the rank did", func(l tables.Line) Cell {
				c := nameCell(cmp.Or(l.Str("name"), ClassWords(l.Str("class"))))
				c.Small = say(l, "rank {rank}")
				return c
			}), bar(charged, "ns", "{class}", "{class class}"), figure(charged, "waited for it", "ns"))})},
		{"collectives", "Collectives", "", filled([]Grid{gridOf(totals, cardRows, "kinds",
			label("collective", func(l tables.Line) Cell { return Cell{Text: Words(l.Str("name")), Small: group(l).Text} }), headed("waits", bar(totals, "wait_ns", "pale", "{wait_ns}")),
			figure(totals, "waited", "wait_ns"), figure(totals, "transfers", "transfer_ns"), figure(totals, "operations", "count"), extra(figure(totals, "of their time", "wait_ratio")))})},
		{"bandwidth", "Bandwidth", "Bus bandwidth as in nccl-tests, by collective, size and whether all members are on one host (intra) or on several (inter).", filled([]Grid{gridOf(rates, maxRows, "sizes",
			label("collective", func(l tables.Line) Cell {
				return Cell{Text: say(l, "{words name} of {bytes_bucket}"), Small: say(l, "{group_size#rank}, {topology}")}
			}),
			inner(rates, "busbw_median", "expected", [3]string{"communication", "", "half of them reach {busbw_median}"}, [3]string{"nothing", "", "expected {expected}"}),
			figure(rates, "median", "busbw_median"), figure(rates, "best", "busbw_best"), figure(rates, "expected", "expected"), extra(figure(rates, "operations", "count"))),
			slow})},
		{"ranks", "Ranks", "", filled([]Grid{r.rankGrid(tables.Find(list, "ranks"))})},
	}
}

// headed gives a column a head.
func headed(head string, c Column) Column {
	c.Head = head
	return c
}

// rankGrid lists the ranks, of many those with most of the path and those for which most is waited.
func (r *JobReport) rankGrid(t *tables.Table) Grid {
	order := make([]int, t.Rows)
	for i := range order {
		order[i] = i
	}
	const all = 16
	if len(order) > all {
		slices.SortStableFunc(order, func(a, b int) int {
			x, y := &r.Job.Ranks[a], &r.Job.Ranks[b]
			return cmp.Or(cmp.Compare(y.Path, x.Path), cmp.Compare(y.Caused, x.Caused))
		})
		order = order[:all]
	}
	return gridIn(t, order, "ranks", label("rank", func(l tables.Line) Cell {
		return Cell{Text: say(l, "rank {rank}"), Small: say(l, "{host}"), Exact: l.Exact("rank")}
	}),
		headed("of the path", bar(t, "path_ns", "handoff", "{path_ns}")), figure(t, "path", "path_ns"), figure(t, "waited", "wait_ns"), figure(t, "others waited for it", "caused_wait_ns"), extra(figure(t, "events", "events")))
}
