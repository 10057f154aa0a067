package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"overlay/internal/ranks"
	"overlay/internal/stat"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// waiting says for whom ranks waited in collectives.
func (t *jobText) waiting() {
	j := &t.r.Job
	w := &j.Waits
	if j.Matching.Instances == 0 {
		t.label("waiting", "not known: no collective of two ranks was matched")
		return
	}
	t.label("waiting", "%s of all ranks' time, in collectives: %s", tables.FormatShare(w.Ratio), tables.RankTime(w.Total))
	type cause struct {
		word, what string
		ns         int64
		rank       *int // whose work it is
	}
	var causes []cause
	for i := range j.Ranks {
		if ns := j.Ranks[i].Caused; ns > 0 {
			causes = append(causes, cause{"for " + t.r.RankWhere(j.Ranks[i].Rank), "", ns, &j.Ranks[i].Rank})
		}
	}
	for _, x := range []cause{{"not recorded", "work of ranks before their traces begin", w.Unrecorded, nil}, {"transfers", "of other collectives", w.Transfer, nil}, {"missing ranks", "", w.Missing, nil}} {
		if x.ns > 0 {
			causes = append(causes, x)
		}
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return cmp.Compare(b.ns, a.ns) })
	width := 14
	for _, x := range first(causes, t.most(5)) {
		width = max(width, utf8.RuneCountInString(x.word))
	}
	for _, x := range first(causes, t.most(5)) {
		if x.rank != nil {
			x.what = t.chargedTo(*x.rank, t.width-width-19)
		}
		t.more("%-*s %14s  %s", width, x.word, tables.RankTime(x.ns), x.what)
	}
	t.rest("  ", len(causes)-t.most(5))
}

// chargedTo lists what a rank did while others waited for it: one thing, and a second one where there is room for it.
func (t *jobText) chargedTo(rank, room int) (what string) {
	for _, c := range t.r.Job.Waits.Charged {
		if c.Rank != rank {
			continue
		}
		name := c.Name
		if name == "" {
			name = ClassWords(c.Class)
		}
		ns := " " + tables.RankTime(c.NS)
		if what == "" {
			what = Shorten(Plain(Readable(name)), max(room-len(ns), 20)) + ns
		} else if second := ", " + Plain(Readable(name)) + ns; utf8.RuneCountInString(what+second) <= room {
			return what + second
		} else {
			return what
		}
	}
	return what
}

func (t *jobText) collectives() {
	j := &t.r.Job
	if len(j.Totals) == 0 {
		return
	}
	n, lo, hi, rLo, rHi, artefacts := 0, j.Totals[0].Shortest, int64(0), j.Totals[0].RWaitMin, 0.0, 0
	for _, x := range j.Totals {
		n += x.Count
		lo, hi = min(lo, x.Shortest), max(hi, x.Longest)
		rLo, rHi = min(rLo, x.RWaitMin), max(rHi, x.RWaitMax)
		artefacts += x.Artefacts
	}
	t.label("collectives", "%s, transfer %s to %s each; waits %s to %s of the time", tables.Grouped(int64(n)), tables.Duration(lo), tables.Duration(hi),
		tables.FormatShare(rLo), tables.FormatShare(rHi))
	if artefacts > 0 {
		t.more("%s only when recording began: not judged", tables.Counted(artefacts, "collective")+" show"+map[bool]string{true: "s"}[artefacts == 1])
	}
	most := slices.Clone(j.Totals)
	slices.SortStableFunc(most, func(a, b GroupTotal) int { return cmp.Compare(b.Wait, a.Wait) })
	if len(most) == 1 {
		most = nil
	}
	for _, x := range first(most, t.most(4)) {
		g := &j.Groups[x.Group]
		t.more("%-16s %6s in group %s, waits %s, transfers %s", x.Name, tables.Grouped(int64(x.Count)), GroupName(g), tables.RankTime(x.Wait), tables.Duration(x.Transfer))
	}
}

// GroupName names a group with its ranks.
func GroupName(g *JobGroup) string {
	name := Plain(g.Name)
	if g.Desc != "" && g.Desc != g.Name {
		name += " " + Plain(g.Desc)
	}
	return Shorten(name+" ("+RankRanges(g.Ranks)+")", 44)
}

func (t *jobText) steps() {
	j := &t.r.Job
	if len(j.Steps) == 0 {
		return
	}
	whole, bad := 0, []string{}
	var durations []int64
	for _, s := range j.Steps {
		if !s.Whole {
			continue
		}
		whole++
		durations = append(durations, s.Duration)
		if s.Bad {
			bad = append(bad, fmt.Sprintf("%d (%s)", s.Number, tables.Duration(s.Duration)))
		}
	}
	if whole == 0 {
		t.label("steps", "%s, none of them complete on every rank", tables.Grouped(int64(len(j.Steps))))
		return
	}
	of, median := tables.Grouped(int64(whole)), "median "
	if whole == len(j.Steps) {
		of = "all"
	}
	if whole == 1 {
		median = ""
	}
	text := fmt.Sprintf("%s, %s complete on every rank, %s%s", tables.Grouped(int64(len(j.Steps))), of, median, tables.Duration(stat.Median(durations)))
	if len(j.Steps) == 1 {
		text = fmt.Sprintf("1, complete on every rank, %s", tables.Duration(durations[0]))
	}
	if len(bad) > 0 {
		text += "; much longer: " + strings.Join(bad, ", ")
	}
	t.label("steps", "%s", text)
}

func (t *jobText) stragglers() {
	j := &t.r.Job
	switch {
	case len(j.Steps) == 0:
		t.label("stragglers", "not judged: the traces have no steps")
	case t.r.judged < 2:
		t.label("stragglers", "not judged: %s complete on every rank, and it takes two", tables.Counted(t.r.judged, "step"))
	case len(j.Stragglers) == 0:
		t.label("stragglers", "none in %s", tables.Counted(t.r.judged, "step"))
	}
	for _, s := range j.Stragglers {
		who := t.r.StragglerWhere(&s)
		cause, advice := CauseText(&s)
		t.label("stragglers", "%s, %s: %s, %s of the time of %s of %s", who, Words(s.Kind), cause, tables.FormatShare(s.Share), tables.Plain(int64(len(s.Steps))), tables.Counted(t.r.judged, "step"))
		for _, l := range wrapText(Plain(s.Gains), t.width-2) {
			t.more("%s", l)
		}
		if advice != "" {
			for _, l := range wrapText(advice, t.width-2) {
				t.more("%s", l)
			}
		}
		for _, n := range first(s.Names, t.most(3)) {
			t.more("%11s more in %s", tables.Duration(n.Excess), Plain(Readable(n.Name)))
		}
	}
}

// CauseText is a cause in words, and what to do about it.
func CauseText(s *Straggler) (cause, advice string) {
	r := ranks.ReasonOf(ranks.CauseKind(s.Cause), ranks.StragglerKind(s.Kind), s.Unit)
	name := ""
	if len(s.Names) > 0 {
		name = s.Names[0].Name
	}
	if cause, advice = r.With(s.Factor, s.Load, Shorten(Plain(Readable(name)), 40)), r.What; r.Rule == "rank-more-work" && name == strings.TrimSuffix(trace.StepPrefix, "#") {
		return cause, r.Do[1]
	}
	switch {
	case r.Given && s.LoadBy != "":
		advice += ", given ×" + tables.Fixed(s.Load, 2) + " the work by " + s.LoadBy
	case r.Kind == ranks.SlowGPU:
		return cause, advice + ": " + r.Do[0] + "; record_shapes=True would rule out more work"
	}
	return cause, advice + ": " + r.Do[0]
}

func (t *jobText) links() {
	j := &t.r.Job
	for _, l := range first(j.Links, t.most(3)) {
		t.label("slow links", "%s of group %s take %s, elsewhere %s", l.Class, GroupName(&j.Groups[l.Group]), tables.Duration(l.Median), tables.Duration(l.Best))
	}
	most := slices.Clone(j.Bandwidth)
	slices.SortStableFunc(most, func(a, b Bandwidth) int { return cmp.Compare(int64(b.Count)*b.Bucket, int64(a.Count)*a.Bucket) })
	for _, b := range first(most, t.most(3)) {
		t.label("bandwidth", "%s %s, %s %s: %s of %s", b.Name, tables.FormatBytes(b.Bucket), tables.Counted(b.Size, "rank"), b.Topology,
			tables.FormatRate(b.Median), tables.FormatRate(b.Expected))
	}
}

func (t *jobText) notes() {
	for _, n := range t.r.Job.Notes {
		for i, l := range wrapText(Plain(n), t.width-15) {
			t.label([]string{"note", ""}[min(i, 1)], "%s", l)
		}
	}
}

// walk prints the path over the ranks.
func (t *jobText) walk() {
	walked(t.text, t.r.Job.Path.Segments, t.r.Job.Window.Start, func(s *JobSegment) stretch {
		return stretch{s.Start, s.End, s.Kind, s.Name, "rank " + tables.Plain(int64(s.Rank))}
	}, 10)
}

// RankWhere names a rank with its host and device.
func (r *JobReport) RankWhere(rank int) string {
	where := ""
	if i := slices.IndexFunc(r.Job.Ranks, func(x Rank) bool { return x.Rank == rank }); i >= 0 {
		where = Plain(ranks.Where(r.Job.Ranks[i].Host, r.Job.Ranks[i].Device))
	}
	return "rank " + tables.Plain(int64(rank)) + where
}

// StragglerWhere names a straggler; of one rank with its host and device.
func (r *JobReport) StragglerWhere(s *Straggler) string {
	if s.Unit == "rank" && len(s.Ranks) == 1 {
		return r.RankWhere(s.Ranks[0])
	}
	return StragglerWho(s)
}

// StragglerWho names a straggler.
func StragglerWho(s *Straggler) string {
	switch {
	case s.Unit != "rank":
		who := strings.TrimSpace(Plain(s.Name))
		if !strings.HasPrefix(who, s.Unit) {
			who = s.Unit + " " + who
		}
		return who + " (ranks " + RankRanges(s.Ranks) + ")"
	case len(s.Ranks) > 1:
		return "ranks " + RankRanges(s.Ranks)
	}
	return "rank " + RankRanges(s.Ranks)
}
