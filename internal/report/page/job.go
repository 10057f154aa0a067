package page

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/report"
	"overlay/internal/tables"
)

// jobContent is what the page of a job shows.
type jobContent struct {
	*report.JobReport
	Name, Title, Lead, Soft string
	Composition             []part
	ClassKey                []keyEntry
	Findings                []finding
	Stays                   []block
	Stairs                  *stairs
	Heats                   []heat
	HeatNote                string
	Names                   *heat
	ChargeGrid, GroupGrid   grid
	BandwidthGrid, LinkGrid grid
	RankGrid                grid
	Trust                   []string
}

// block is a stretch of time of a row.
type block struct {
	Kind        string
	Left, Wide  template.CSS
	Text, Title string
}

// WriteJob writes the report of a job, which was made from that source, as one page that needs nothing else.
func WriteJob(w io.Writer, r *report.JobReport, s report.JobSource) error {
	return page().ExecuteTemplate(w, "job", jobContentOf(r, s))
}

func jobContentOf(r *report.JobReport, s report.JobSource) *jobContent {
	p := &jobPage{r: r, j: s.Job, v: s.Verdict, list: r.Tables()}
	c := &jobContent{JobReport: r, Name: s.Name, Title: p.title(), Composition: classParts(r.Job.Path.ByClass, r.Job.Path.Duration, r.Job.Path.Duration), Findings: p.findings(),
		Stays: p.stays(), Stairs: p.stairs(), Names: p.names(), ChargeGrid: p.chargeGrid(), GroupGrid: p.groupGrid(), BandwidthGrid: p.bandwidthGrid(), LinkGrid: p.linkGrid(),
		RankGrid: p.rankGrid(), Trust: p.trust()}
	c.Lead, c.Soft = p.lead()
	c.Heats, c.HeatNote = p.heats()
	for class := range critpath.NumClasses {
		if ns := r.Job.Path.ByClass[class.String()]; ns*2000 >= r.Job.Path.Duration && ns > 0 {
			c.ClassKey = append(c.ClassKey, keyEntry{class.String(), class.Words() + " " + tables.FormatShare(tables.ShareOf(ns, r.Job.Path.Duration))})
		}
	}
	return c
}

// jobPage makes the parts of the page.
type jobPage struct {
	r    *report.JobReport
	j    *ranks.Job
	v    *ranks.Verdict
	list []tables.Table
}

func (p *jobPage) rank(m int32) string { return "rank " + tables.Plain(int64(p.j.Members[m].Rank)) }

// title says what bounds the job: who is slow, else on which ranks the path is.
func (p *jobPage) title() string {
	if len(p.r.Job.Stragglers) > 0 {
		s := &p.r.Job.Stragglers[0]
		cause, _ := report.CauseText(s)
		return sentence(report.StragglerWho(s)) + ": " + cause
	}
	if p.r.Job.Matching.Instances == 0 && len(p.r.Job.Ranks) > 1 {
		return "Ranks that have no collectives in common"
	}
	on := p.byRank()
	words := "Bound by " + report.ClassWords(p.r.Job.Path.BoundBy)
	known := max(p.r.Job.Path.Duration-p.r.Job.Path.Unrecorded-p.r.Job.Path.Missing, 1)
	switch {
	case len(on) == 0:
	case on[0].NS*10 < known*3:
		words += " over " + tables.Counted(len(on), "rank")
	default:
		words += fmt.Sprintf(" on rank %d (%s)", on[0].Rank, tables.WholePercent(on[0].NS, known))
		if len(on) > 1 && on[1].NS*10 >= known {
			words += fmt.Sprintf(" and rank %d (%s)", on[1].Rank, tables.WholePercent(on[1].NS, known))
		}
	}
	return words
}

// byRank is the time of the path on each rank, without what is not recorded, most first.
func (p *jobPage) byRank() []report.RankTime {
	on := map[int]int64{}
	for i := range p.j.Path {
		s := &p.j.Path[i]
		if s.Kind != critpath.Unrecorded && s.Kind != critpath.MissingRank {
			on[int(p.j.Members[s.Member].Rank)] += s.End - s.Start
		}
	}
	list := make([]report.RankTime, 0, len(on))
	for rank, ns := range on {
		list = append(list, report.RankTime{Rank: rank, NS: ns})
	}
	slices.SortFunc(list, func(a, b report.RankTime) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Rank, b.Rank)) })
	return list
}

func (p *jobPage) lead() (lead, soft string) {
	j := &p.r.Job
	events := int64(0)
	for i := range j.Ranks {
		events += int64(j.Ranks[i].Events)
	}
	window := "a window of"
	if j.Window.Step != nil {
		window = "step " + tables.Plain(int64(*j.Window.Step)) + ","
	}
	lead = fmt.Sprintf("%s of %s in %s %s. The path jumps %s from rank to rank; %s of all ranks' time is spent waiting in collectives.", tables.Counted(len(j.Ranks), "rank"),
		tables.Grouped(int64(j.World)), window, tables.Duration(j.Window.Duration), tables.Counted(j.Path.JumpCount, "time"), tables.FormatShare(j.Waits.Ratio))
	return lead, tables.Grouped(events) + " events."
}

// findings are what is most worth knowing.
func (p *jobPage) findings() (out []finding) {
	j := &p.r.Job
	for i := range j.Stragglers {
		s := &j.Stragglers[i]
		cause, advice := report.CauseText(s)
		f := finding{Kind: "slower", Value: tables.FormatShare(s.Share), About: fmt.Sprintf("of %s of %s, %s", tables.Plain(int64(len(s.Steps))), tables.Counted(p.v.Judged, "step"), report.Words(s.Kind)),
			Title: sentence(report.StragglerWho(s)) + ": " + cause, Text: sentence(cmp.Or(advice, "it has more work than the ranks that do the same")) + "."}
		if len(s.Names) > 0 {
			f.Text += " Most in " + report.Plain(report.Readable(s.Names[0].Name)) + ", " + tables.Duration(s.Names[0].Excess) + " more."
		}
		if out = append(out, f); len(out) == 2 {
			break
		}
	}
	if j.Path.Unrecorded*50 >= j.Path.Duration && len(p.j.Path) > 0 {
		out = append(out, finding{Kind: "untraced", Value: tables.FormatShare(tables.ShareOf(j.Path.Unrecorded, j.Path.Duration)), About: "of the window",
			Title: fmt.Sprintf("The trace of rank %d begins late", p.j.Members[p.j.Path[0].Member].Rank), Text: "Profilers do not start together: the first collectives show that, and nothing of the network."})
	}
	if len(j.Waits.Charged) > 0 {
		by := map[int]int64{}
		top := 0
		for _, c := range j.Waits.Charged {
			if by[c.Rank] += c.NS; by[c.Rank] > by[top] || by[c.Rank] == by[top] && c.Rank < top {
				top = c.Rank
			}
		}
		k := slices.IndexFunc(j.Waits.Charged, func(c report.Charge) bool { return c.Rank == top })
		out = append(out, finding{Kind: j.Waits.Charged[k].Class, Value: tables.RankTime(by[top]), About: "of " + tables.RankTime(j.Waits.Total) + " waited in all",
			Title: fmt.Sprintf("Most is waited for rank %d", top), Text: "Most of that while it was in " + report.Plain(report.Readable(j.Waits.Charged[k].Name)) + "."})
	}
	if len(j.Links) > 0 {
		l := &j.Links[0]
		out = append(out, finding{Kind: "communication", Value: "×" + tables.Fixed(l.Ratio, 2), About: "as long as in the fastest group", Title: "A slow link: group " + report.GroupName(&j.Groups[l.Group]),
			Text: sentence(l.Class) + " takes " + tables.Duration(l.Median) + ", elsewhere " + tables.Duration(l.Best) + "."})
	}
	return out[:min(len(out), report.TopFindings)]
}

// stays are the path from left to right, a block for each stay on a rank; very short ones join.
func (p *jobPage) stays() (out []block) {
	j := p.j
	whole := j.Window[1] - j.Window[0]
	if len(j.Stays) == 0 || whole <= 0 || p.r.Job.Matching.Instances == 0 {
		return nil
	}
	type run struct {
		start, end int64
		member     int32
		unknown    bool
	}
	var runs []run
	for i := range j.Path {
		x := &j.Path[i]
		r := run{x.Start, x.End, x.Member, x.Kind == critpath.Unrecorded || x.Kind == critpath.MissingRank}
		if n := len(runs); n > 0 && runs[n-1].member == r.member && runs[n-1].unknown == r.unknown {
			runs[n-1].end = r.end
			continue
		}
		runs = append(runs, r)
	}
	for i := 0; i < len(runs); {
		first, on := runs[i], map[int32]int64{runs[i].member: runs[i].end - runs[i].start}
		end := first.end
		for i++; i < len(runs) && end-first.start < whole/160; i++ {
			on[runs[i].member] += runs[i].end - runs[i].start
			end = runs[i].end
		}
		best := first.member
		for m, ns := range on {
			if ns > on[best] || ns == on[best] && m < best {
				best = m
			}
		}
		class, text := p.classIn(first.start, end), p.rank(best)
		b := p.block(first.start, end, j.Window[0], whole)
		b.Kind = class.String()
		b.Title = fmt.Sprintf("%s, mostly %s, %s", text, class.Words(), tables.Duration(end-first.start))
		switch {
		case len(on) > 1:
			b.Title = fmt.Sprintf("%s, most of it on %s", tables.Counted(len(on), "rank"), b.Title)
		case first.unknown:
			text += ": not recorded"
			b.Title = text + ", " + tables.Duration(end-first.start)
		}
		if (end-first.start)*30 > whole {
			b.Text = text
		}
		out = append(out, b)
	}
	return out
}

// classIn is the class with most of the path in [from, to].
func (p *jobPage) classIn(from, to int64) critpath.Class {
	var sums [critpath.NumClasses]int64
	path := p.j.Path
	i, _ := slices.BinarySearchFunc(path, from, func(s ranks.Segment, t int64) int { return cmp.Compare(s.End, t+1) })
	for ; i < len(path) && path[i].Start < to; i++ {
		sums[path[i].Kind.Class()] += min(path[i].End, to) - max(path[i].Start, from)
	}
	return critpath.BoundBy(&sums)
}

func (p *jobPage) block(from, to, start, whole int64) block {
	return block{Left: width(float64(from-start) / float64(whole)), Wide: width(float64(to-from) / float64(whole))}
}

// trust says what the report rests on.
func (p *jobPage) trust() (out []string) {
	j := &p.r.Job
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
		out = append(out, fmt.Sprintf("%s without a trace: %s.", tables.Counted(len(j.Missing), "rank"), report.Shorten(report.RankRanges(j.Missing), 200)))
	}
	if p.v.Judged < 2 {
		out = append(out, tables.Counted(p.v.Judged, "step")+" complete on every rank: stragglers need two to be judged.")
	}
	for i, x := range j.Ignored {
		if i == 5 {
			out = append(out, tables.Counted(len(j.Ignored)-i, "more input")+" left out.")
			break
		}
		out = append(out, "Left out: "+report.Plain(x.Source)+": "+report.Plain(x.Why))
	}
	for _, n := range j.Notes {
		out = append(out, sentence(report.Plain(n))+".")
	}
	return out
}
