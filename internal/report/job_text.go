package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"overlay/internal/tables"
)

// WriteText writes the report of a job on about one screen.
func (r *JobReport) WriteText(w io.Writer, o TextOptions) error {
	t := &jobText{newText(w, o, nil), r}
	t.head()
	t.path()
	t.waiting()
	t.collectives()
	t.steps()
	t.stragglers()
	t.links()
	t.notes()
	if o.Walk {
		t.walk()
	}
	return t.w.Flush()
}

type jobText struct {
	*text
	r *JobReport
}

// label starts a section: its word, then text.
func (t *jobText) label(word, format string, args ...any) {
	t.line("%s %s", t.bold(fmt.Sprintf("%-14s", word)), Shorten(fmt.Sprintf(format, args...), t.width-15))
}

// more goes on in a section.
func (t *jobText) more(format string, args ...any) {
	t.line("%s", Shorten("  "+fmt.Sprintf(format, args...), t.width))
}

func (t *jobText) head() {
	j := &t.r.Job
	by := map[string]bool{}
	for i := range j.Ranks {
		by[j.Ranks[i].RankBy] = true
	}
	evidence := strings.Join(slices.Sorted(func(yield func(string) bool) {
		for k := range by {
			if !yield(k) {
				return
			}
		}
	}), ", ")
	if by["order"] {
		t.line("%s", t.bold("no trace says its rank: they are numbered by name"))
	}
	t.heading(t.r.Headline, t.r.name)
	window := ""
	if j.Window.Step != nil {
		window = " (step " + tables.Plain(int64(*j.Window.Step)) + ")"
	}
	t.line("%s of %s (%s), %s events, window %s%s%s", tables.Counted(len(j.Ranks), "rank"), tables.Grouped(int64(j.World)), evidence, tables.Grouped(int64(t.r.Events())),
		tables.Duration(j.Window.Duration), window, unusual(t.r.Method, t.r.threads))
	t.clocks()
	if len(j.Missing) > 0 {
		t.label("missing", "%s: %s", tables.Counted(len(j.Missing), "rank"), RankRanges(j.Missing))
	}
	if len(j.Ignored) > 0 {
		t.label("ignored", "%s", tables.Counted(len(j.Ignored), "input"))
		for _, x := range first(j.Ignored, t.most(3)) {
			t.more("%s: %s", Plain(x.Source), Plain(x.Why))
		}
		t.rest("  ", len(j.Ignored)-t.most(3))
	}
	t.line("")
}

// clocks says what the one clock rests on.
func (t *jobText) clocks() {
	j := &t.r.Job
	hosts := map[string]bool{}
	drift, weak := 0, 0
	for i := range j.Ranks {
		hosts[j.Ranks[i].Host] = true
		if slices.ContainsFunc(j.Ranks[i].Clock.Pieces, func(p ClockPiece) bool { return p.Drift != 0 }) {
			drift++
		}
		if j.Ranks[i].Clock.Observations < 3 {
			weak++
		}
	}
	parts := []string{}
	if !hosts[""] {
		parts = append(parts, tables.Counted(len(hosts), "host"))
	}
	c := &j.Clock
	switch {
	case c.Trusted:
		parts = append(parts, "taken as they are")
	case j.Matching.Instances == 0:
		parts = append(parts, "as recorded: the ranks have no collectives in common")
	default:
		parts = append(parts, "corrections up to "+tables.Duration(c.Largest), "error "+tables.Duration(c.Error))
		switch {
		case drift == 0:
			parts = append(parts, "no drift")
		default:
			parts = append(parts, "drift on "+tables.Counted(drift, "rank"))
		}
		if c.Steps > 0 {
			parts = append(parts, tables.Counted(c.Steps, "jump")+" of clocks")
		}
		if weak > 0 {
			parts = append(parts, "weak on "+tables.Counted(weak, "rank"))
		}
	}
	if c.Components > 1 && !c.Trusted && j.Matching.Instances > 0 {
		parts = append(parts, tables.Counted(c.Components, "set")+" of ranks that share nothing")
	}
	t.label("clocks", "%s", strings.Join(parts, ", "))
	m := &j.Matching
	if m.Instances == 0 {
		return
	}
	how := ""
	if slices.ContainsFunc(j.Groups, func(g JobGroup) bool { return g.By == "times" || g.By == "transfers" }) {
		how = "; groups by when they end: the traces name none"
	}
	rest := ""
	if m.Partial > 0 {
		rest += ", " + tables.Grouped(int64(m.Partial)) + " of them in part"
	}
	if m.Unmatched > 0 {
		rest += ", " + tables.Counted(m.Unmatched, "operation") + " without a partner"
	}
	if c.Violations > 0 {
		rest += ", " + tables.Grouped(int64(c.Violations)) + " left before the last came"
	}
	t.label("matched", "%s%s%s", tables.Counted(m.Instances, "collective"), rest, how)
}

func (t *jobText) path() {
	j := &t.r.Job
	if j.Matching.Instances == 0 && len(j.Ranks) > 1 {
		t.apart()
		return
	}
	p := &j.Path
	var by []string
	known := max(p.Duration-p.Unrecorded-p.Missing, 1)
	for _, x := range t.r.recorded() {
		if ns := x.NS; ns*50 >= known && len(by) < 4 {
			who := t.r.RankWhere(x.Rank)
			if at, ok := strings.CutSuffix(who, ")"); ok {
				who = at + ", "
			} else {
				who += " ("
			}
			by = append(by, who+tables.WholePercent(ns, known)+")")
		}
	}
	verdict := boundBy(p.BoundBy)
	runs := func() string {
		rest := ""
		if n := len(p.ByRank) - len(by); n > 0 {
			rest = " and " + tables.Plain(int64(n)) + " more"
			if len(by) == 0 {
				rest = tables.Counted(n, "rank") + ", nowhere for long"
			}
		}
		return fmt.Sprintf("; the path runs on %s%s, %s", strings.Join(by, ", "), rest, tables.Counted(p.JumpCount, "jump"))
	}
	for len(by) > 1 && len(verdict)+len(runs()) > t.width {
		by = by[:len(by)-1]
	}
	t.line("%s%s", t.bold(t.paint(colour(p.BoundBy), verdict)), Shorten(runs(), t.width-len(verdict)))
	t.ranksStrip()
	line := func(key, word string, ns int64, note string) {
		t.line("%s %-15s %8s %12s  %s", key, word, tables.FormatShare(tables.ShareOf(ns, p.Duration)), tables.Duration(ns), Shorten(note, max(t.width-42, 10)))
	}
	unrecorded, missing := p.Unrecorded, p.Missing
	for _, c := range ByTime(p.ByClass) {
		ns := p.ByClass[c]
		if c == "untraced" {
			if unrecorded > 0 {
				line(letter(c), "not recorded", unrecorded, t.skew())
			}
			if missing > 0 {
				line(letter(c), "missing rank", missing, "collectives that took too long for those who have a trace")
			}
			ns -= unrecorded + missing
		}
		if ns*1000 >= p.Duration {
			line(letter(c), ClassWords(c), ns, "")
		}
	}
	t.line("")
}

// sideBySide is how many ranks are listed that have nothing in common.
const sideBySide = 16

// apart lists ranks that share nothing: each has a path of its own.
func (t *jobText) apart() {
	all := t.r.Job.Ranks
	for _, r := range first(all, t.most(sideBySide)) {
		var parts []string
		whole := r.Window.End - r.Window.Start
		for _, c := range ByTime(r.OwnByClass) {
			if ns := r.OwnByClass[c]; ns*50 >= whole && len(parts) < 4 {
				parts = append(parts, ClassWords(c)+" "+tables.WholePercent(ns, max(whole, 1)))
			}
		}
		t.line("rank %-6d %11s  %s", r.Rank, tables.Duration(whole), Shorten(strings.Join(parts, ", "), t.width-26))
	}
	t.rest("", len(all)-t.most(sideBySide))
	t.line("")
}

// skew says whose trace begins late.
func (t *jobText) skew() string {
	p := &t.r.Job.Path
	if len(p.strip) == 0 {
		return ""
	}
	return fmt.Sprintf("the trace of %s begins that late: the profiler's start", t.r.RankWhere(p.strip[0].rank))
}

// ranksStrip draws the window from left to right: the rank on which the path is, a digit a column, dots where nothing is recorded. Where
// there are ranks of more than one digit, the ranks have letters, which are explained.
func (t *jobText) ranksStrip() {
	p := &t.r.Job.Path
	if len(p.strip) == 0 || p.Duration <= 0 {
		return
	}
	sign := map[int]byte{}
	digits := !slices.ContainsFunc(p.ByRank, func(x RankTime) bool { return x.Rank > 9 })
	var legend []string
	for i, x := range p.ByRank {
		switch {
		case digits:
			sign[x.Rank] = byte('0' + x.Rank)
		case i < 26:
			sign[x.Rank] = byte('a' + i)
			if i < 8 {
				legend = append(legend, fmt.Sprintf("%c %s", 'a'+i, t.r.RankWhere(x.Rank)))
			}
		default:
			sign[x.Rank] = '*'
		}
	}
	n := min(t.width, 100)
	var b strings.Builder
	i := 0
	for c := range n {
		at := t.r.Job.Window.Start + int64((float64(c)+0.5)/float64(n)*float64(p.Duration))
		for i+1 < len(p.strip) && p.strip[i].end <= at {
			i++
		}
		if p.strip[i].unknown {
			b.WriteByte('.')
		} else {
			b.WriteByte(sign[p.strip[i].rank])
		}
	}
	t.line("%s", b.String())
	if len(legend) > 0 {
		t.line("%s", Shorten(strings.Join(legend, ", "), t.width))
	}
}

// RankRanges writes ascending ranks as 0-2, 5.
func RankRanges(list []int) string {
	var parts []string
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		switch {
		case k == i:
			parts = append(parts, tables.Plain(int64(list[i])))
		default:
			parts = append(parts, tables.Plain(int64(list[i]))+"-"+tables.Plain(int64(list[k])))
		}
		i = k + 1
	}
	return strings.Join(parts, ", ")
}
