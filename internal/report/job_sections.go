package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"overlay/internal/ranks/roster"
	"overlay/internal/stat"
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
	return r.bound()
}

// bound says by what the job is bound, and on which ranks.
func (r *JobReport) bound() string {
	on, known := r.recorded(), max(r.Job.Path.Duration-r.Job.Path.Unrecorded-r.Job.Path.Missing, 1)
	words := Sentence(boundBy(r.Job.Path.BoundBy))
	for i, x := range first(on, 2) {
		switch {
		case i == 0 && x.NS*10 < known*3:
			return words + " over " + tables.Counted(len(on), "rank")
		case x.NS*10 >= known:
			words += []string{" on ", " and "}[min(i, 1)] + r.RankWhere(x.Rank) + " (" + tables.WholePercent(x.NS, known) + ")"
		}
	}
	return words
}

// Lead says how much of the job is there, what the path does, and how long steps take.
func (r *JobReport) Lead() string {
	j := &r.Job
	window, by, events := "a window of", map[string]bool{}, 0
	if j.Window.Step != nil {
		window = "step " + tables.Plain(int64(*j.Window.Step)) + ","
	}
	for i := range j.Ranks {
		by[j.Ranks[i].RankBy] = true
		events += j.Ranks[i].Events
	}
	says := fmt.Sprintf("%s of %s (%s) with %s in %s %s%s. ", tables.Counted(len(j.Ranks), "rank"), tables.Grouped(int64(j.World)), strings.Join(slices.Sorted(maps.Keys(by)), ", "),
		tables.Counted(events, "event"), window, tables.Duration(j.Window.Duration), unusual(r.Method, r.threads))
	if by["order"] {
		says += "No trace says its rank: they are numbered by name. "
	}
	if r.Headline != "" {
		says += r.bound() + ". "
	}
	if j.Matching.Instances > 0 {
		path := "stays on its rank"
		if n := j.Path.JumpCount; n > 0 {
			path = "jumps " + tables.Counted(n, "time") + " from rank to rank"
		}
		says += fmt.Sprintf("The path %s; %s of all ranks' time is spent waiting in collectives: %s. ", path, tables.FormatShare(j.Waits.Ratio), tables.RankTime(j.Waits.Once))
	}
	return says + r.stepWords()
}

// stepWords say how long steps take, and whether ranks could be judged by them.
func (r *JobReport) stepWords() string {
	n, whole, types, bad := 0, map[string][]int64{}, []string{}, []string{}
	for _, s := range r.Job.Steps {
		if s.Whole {
			if n++; whole[s.Type] == nil {
				types = append(types, s.Type)
			}
			whole[s.Type] = append(whole[s.Type], s.Duration)
		}
		if s.Whole && s.Bad {
			bad = append(bad, fmt.Sprintf("%d (%s)", s.Number, tables.Duration(s.Duration)))
		}
	}
	if len(r.Job.Steps) == 0 {
		return "The traces have no steps: stragglers are not judged."
	}
	says := fmt.Sprintf("%s, %s complete on every rank", tables.Counted(len(r.Job.Steps), "step"), tables.Grouped(int64(n)))
	for i, t := range types { // of servers how many of each type
		says += []string{", median ", ", "}[min(i, 1)] + tables.Duration(stat.Median(whole[t])) + after(fmt.Sprintf(" of %d ", len(whole[t])), t)
	}
	says += after("; much longer: ", strings.Join(bad, ", "))
	switch {
	case r.judged < 2:
		says += ": stragglers need two to be judged"
	case len(r.Job.Stragglers) == 0:
		says += ". No stragglers"
	}
	return says + "."
}

// TopFindings are the findings that a page has above all else: two of the stragglers, and what else there is.
func (r *JobReport) TopFindings() []Finding {
	all, slow := r.Findings(), len(r.Job.Stragglers)
	all = append(slices.Clone(all[:min(slow, 2)]), all[slow:]...)
	return all[:min(len(all), TopFindings)]
}

// Findings are what is worth knowing: who is slow and why, whose trace begins late, for whom most is waited, and slow links.
func (r *JobReport) Findings() (out []Finding) {
	j := &r.Job
	for i := range j.Stragglers {
		s := &j.Stragglers[i]
		cause, advice := CauseText(s)
		f := Finding{Kind: "slower", Value: tables.FormatShare(s.Share), About: fmt.Sprintf("of %s of %s, %s", tables.Plain(int64(len(s.Steps))), tables.Counted(r.judged, "step"), Words(s.Kind)),
			Title: Sentence(r.StragglerWhere(s)) + ": " + cause, Text: Sentence(cmp.Or(advice, "it has more work than the ranks that do the same"))}
		if !strings.HasSuffix(f.Text, "?") {
			f.Text += "."
		}
		for k, n := range first(s.Names, 3) {
			if 20*n.Excess < s.Names[0].Excess { // they come in order of it
				break
			}
			f.Text += []string{" Most in ", ", "}[min(k, 1)] + Shorten(Plain(Readable(n.Name)), 60) + ", " + tables.Duration(n.Excess) + " more"
		}
		f.Text += []string{"", "."}[min(len(s.Names), 1)]
		if s.Gains != "" {
			f.Text += " " + Sentence(s.Gains) + "."
		}
		out = append(out, f)
	}
	if j.Path.Unrecorded*50 >= j.Path.Duration && len(j.Path.Stays) > 0 {
		out = append(out, Finding{Kind: "untraced", Value: tables.FormatShare(tables.ShareOf(j.Path.Unrecorded, j.Path.Duration)), About: "of the window",
			Title: "The trace of " + r.RankWhere(j.Path.Stays[0].Rank) + " begins late", Text: "Profilers do not start together: the first collectives show that, and nothing of the network."})
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
		in := j.Waits.Charged[k].Name
		if in == "" { // time in no event
			in = j.Waits.Charged[k].Class
		}
		out = append(out, Finding{Kind: j.Waits.Charged[k].Class, Value: tables.RankTime(by[top]), About: "of " + tables.RankTime(j.Waits.Total) + " waited in all",
			Title: "Most is waited for " + r.RankWhere(top), Text: "Most of that while it was in " + Plain(Readable(in)) + "."})
	}
	if len(j.Links) > 0 {
		l := &j.Links[0]
		out = append(out, Finding{Kind: "communication", Value: "×" + tables.Fixed(l.Ratio, 2), About: "as long as in the fastest group", Title: "A slow link: group " + GroupName(&j.Groups[l.Group]),
			Text: Sentence(l.Class) + " takes " + tables.Duration(l.Median) + ", elsewhere " + tables.Duration(l.Best) + "."})
	}
	return out
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
		out = append(out, fmt.Sprintf("Clocks%s were solved from when collectives end: corrections of up to %s, which may be off by %s; %s.", r.hosts(), tables.Duration(c.Largest), tables.Duration(c.Error), r.drift()))
	}
	if m.Instances > 0 {
		says := fmt.Sprintf("%s of two or more ranks were matched, %s of them in part; %s have no partner, %s left before the last rank came.", tables.Counted(m.Instances, "collective"),
			tables.Grouped(int64(m.Partial)), tables.Counted(m.Unmatched, "operation"), tables.Counted(c.Violations, "collective"))
		if slices.ContainsFunc(j.Groups, func(g JobGroup) bool { return g.By == "times" }) {
			says += " Groups are by when they end: the traces name none."
		}
		out = append(out, says)
	}
	if ns := j.Path.Unrecorded; ns > 0 {
		out = append(out, tables.Duration(ns)+" of the path are before a trace begins.")
	}
	if ns := j.Path.Missing; ns > 0 {
		out = append(out, tables.Duration(ns)+" of the path are collectives that took too long for those who have a trace: ranks without one.")
	}
	if c.Components > 1 && !c.Trusted && m.Instances > 0 {
		out = append(out, tables.Counted(c.Components, "set")+" of ranks share no collectives: nothing is said of waits between them.")
	}
	if len(j.Missing) > 0 {
		out = append(out, fmt.Sprintf("%s without a trace: %s.", tables.Counted(len(j.Missing), "rank"), Shorten(roster.Ranges(j.Missing), 200)))
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

// hosts says on how many hosts the ranks are, where they say it.
func (r *JobReport) hosts() string {
	names := map[string]bool{}
	for i := range r.Job.Ranks {
		names[r.Job.Ranks[i].Host] = true
	}
	if names[""] {
		return ""
	}
	return " of " + tables.Counted(len(names), "host")
}

// drift says how steady the clocks are: a drift counts where it moves a clock by more than that may be off.
func (r *JobReport) drift() string {
	drift, weak := 0, 0
	for i := range r.Job.Ranks {
		c, w := &r.Job.Ranks[i].Clock, &r.Job.Ranks[i].Window
		if moved := float64(c.Drift) * float64(w.End-w.Start) / 2e9; math.Abs(moved) > float64(c.Error) {
			drift++
		}
		if c.Observations < 3 {
			weak++
		}
	}
	says := []string{"no drift"}
	if drift > 0 {
		says[0] = "drift on " + tables.Counted(drift, "rank")
	}
	if weak > 0 {
		says = append(says, "weak on "+tables.Counted(weak, "rank"))
	}
	return strings.Join(says, ", ")
}

// waited says for what else than the work of ranks they waited.
func (r *JobReport) waited() string {
	w, parts := &r.Job.Waits, []string{}
	for _, x := range [...]struct {
		ns   int64
		what string
	}{{w.Unrecorded, "work before traces begin"}, {w.Transfer, "transfers of other collectives"}, {w.Missing, "ranks without a trace"}} {
		if x.ns > 0 {
			parts = append(parts, tables.RankTime(x.ns)+" for "+x.what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " Besides " + strings.Join(parts, ", ") + "."
}

// transfers says how many collectives there are, how long their transfers take, and what part of the time is waiting for them.
func (r *JobReport) transfers() string {
	list := r.Job.Totals
	if len(list) == 0 {
		return ""
	}
	n, artefacts, all := 0, 0, list[0]
	for _, x := range list {
		n, artefacts = n+x.Count, artefacts+x.Artefacts
		all.Shortest, all.Longest = min(all.Shortest, x.Shortest), max(all.Longest, x.Longest)
		all.RWaitMin, all.RWaitMax = min(all.RWaitMin, x.RWaitMin), max(all.RWaitMax, x.RWaitMax)
	}
	says := fmt.Sprintf("%s with transfers of %s to %s each; waits are %s to %s of the time between them.", tables.Counted(n, "collective"), tables.Duration(all.Shortest), tables.Duration(all.Longest),
		tables.FormatShare(all.RWaitMin), tables.FormatShare(all.RWaitMax))
	if artefacts > 0 {
		says += " Not judged, since they show how recording began: " + tables.Plain(int64(artefacts)) + "."
	}
	return says
}

// recorded is the time of the path on each rank, without what is not recorded, most first.
func (r *JobReport) recorded() (list []RankTime) {
	on := map[int]int64{}
	for _, s := range r.Job.Path.Stays {
		if !s.Unknown {
			on[s.Rank] += s.End - s.Start
		}
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
		{"waits", "What was waited for", "Every wait in a collective, charged to what the rank that came last did meanwhile. Times are summed over the ranks that waited." + r.waited(), filled([]Grid{gridOf(charged, cardRows, "causes",
			label("what the rank did", func(l tables.Line) Cell {
				return nameCell(cmp.Or(l.Str("name"), ClassWords(l.Str("class"))))
			}), bar(charged, "ns", "{class}", "{class class}"), figure(charged, "waited for it", "ns"), wordsOf("rank", "rank {rank}"))})},
		{"collectives", "Collectives", r.transfers(), filled([]Grid{gridOf(totals, cardRows, "kinds",
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
	rank := firstLabel("rank", func(l tables.Line) Cell {
		return Cell{Text: say(l, "rank {rank}"), Small: say(l, "{host}"), Exact: l.Exact("rank")}
	})
	if r.Job.Matching.Instances == 0 { // each has a path of its own
		length := func(l tables.Line) int64 { w := r.Job.Ranks[l.Row].Window; return w.End - w.Start }
		return gridIn(t, order, "ranks", rank, Column{Head: "recorded", Number: true, Unit: tables.NS, cell: func(l tables.Line) Cell {
			return Cell{Text: tables.Duration(length(l)), Exact: tables.Int(length(l)).Exact()}
		}}, wordsBy("made of", func(l tables.Line) string { return mostly(r.Job.Ranks[l.Row].OwnByClass, length(l), 4) }))
	}
	return gridIn(t, order, "ranks", rank,
		headed("of the path", bar(t, "path_ns", "handoff", "{path_ns}")), figure(t, "path", "path_ns"), figure(t, "waited", "wait_ns"), figure(t, "others waited for it", "caused_wait_ns"), extra(figure(t, "events", "events")))
}
