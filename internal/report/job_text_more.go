package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"overlay/internal/ranks"
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
	}
	var causes []cause
	for i := range j.Ranks {
		if ns := j.Ranks[i].Caused; ns > 0 {
			causes = append(causes, cause{fmt.Sprintf("for rank %d", j.Ranks[i].Rank), t.chargedTo(j.Ranks[i].Rank), ns})
		}
	}
	for _, x := range []cause{{"not recorded", "work of ranks before their traces begin", w.Unrecorded}, {"transfers", "of other collectives", w.Transfer}, {"missing ranks", "", w.Missing}} {
		if x.ns > 0 {
			causes = append(causes, x)
		}
	}
	slices.SortStableFunc(causes, func(a, b cause) int { return cmp.Compare(b.ns, a.ns) })
	for i, x := range causes {
		if i == 5 {
			t.more("… %s more", tables.Plain(int64(len(causes)-i)))
			break
		}
		t.more("%-14s %14s  %s", x.word, tables.RankTime(x.ns), x.what)
	}
}

// chargedTo lists what a rank did while others waited for it.
func (t *jobText) chargedTo(rank int) string {
	var parts []string
	for _, c := range t.r.Job.Waits.Charged {
		if c.Rank != rank || len(parts) == 2 {
			continue
		}
		name := c.Name
		if name == "" {
			name = classWords[c.Class]
		}
		parts = append(parts, Shorten(Plain(Readable(name)), max((t.width-64)/2, 12))+" "+tables.RankTime(c.NS))
	}
	return strings.Join(parts, ", ")
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
	for i, x := range most {
		if i == 4 || len(most) == 1 {
			break
		}
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
	slices.Sort(durations)
	of, median := tables.Grouped(int64(whole)), "median "
	if whole == len(j.Steps) {
		of = "all"
	}
	if whole == 1 {
		median = ""
	}
	text := fmt.Sprintf("%s, %s complete on every rank, %s%s", tables.Grouped(int64(len(j.Steps))), of, median, tables.Duration(durations[(whole-1)/2]))
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
		who := StragglerWho(&s)
		cause, advice := CauseText(&s)
		t.label("stragglers", "%s, %s: %s, %s of the time of %s of %s", who, Words(s.Kind), cause, tables.FormatShare(s.Share), tables.Plain(int64(len(s.Steps))), tables.Counted(t.r.judged, "step"))
		if advice != "" {
			for _, l := range wrapText(advice, t.width-2) {
				t.more("%s", l)
			}
		}
		for i, n := range s.Names {
			if i == 3 {
				break
			}
			t.more("%11s more in %s", tables.Duration(n.Excess), Plain(Readable(n.Name)))
		}
	}
}

// CauseText is a cause in words, and what to do about it.
func CauseText(s *Straggler) (cause, advice string) {
	name := ""
	if len(s.Names) > 0 {
		name = Shorten(Plain(Readable(s.Names[0].Name)), 40)
	}
	times := " (×" + tables.Fixed(s.Factor, 2) + ")"
	switch s.Cause {
	case "gpu_slow":
		if s.LoadBy == "" {
			return "GPU slow" + times, "all its kernels take longer: look at clocks, power and heat; record shapes to rule out more work"
		}
		return "GPU slow" + times, "all its kernels take longer, for " + loadText(s) + ": look at clocks, power and heat"
	case "cpu_slow":
		if s.LoadBy != "" {
			return "CPU slow" + times, "all its host work takes longer, for " + loadText(s) + ": look for other load on its cores"
		}
		return "CPU slow" + times, "all its host work takes longer: look for other load on its cores, and for larger inputs"
	case "data_loading":
		return "data loading", "its batches come late: look at its workers, files and network"
	case "pause":
		if s.Kind == string(ranks.Persistent) {
			return "pause in " + name, "it stops there in each step, and the others do not: what does it do alone?"
		}
		return "pause in " + name, "garbage collection and paging do that: collect at fixed steps on all ranks"
	case "input_sizes":
		if s.Load > 1 {
			return "input sizes", "who is slowest has " + loadText(s) + ": sort batches by length, or pad"
		}
		return "input sizes", "its kernels take longer by another factor in each step: balance the inputs"
	case "more_data":
		return "more work (×" + tables.Fixed(s.Load, 2) + ")", "its inputs are larger by " + s.LoadBy + ": deal rows out evenly, sort batches by length, or pad"
	}
	if s.Unit == "stage" {
		return "more GPU work than the other stages", "move layers to other stages"
	}
	if len(s.Names) > 0 && s.Names[0].Name == strings.TrimSuffix(trace.StepPrefix, "#") {
		return "time outside operators", "Python code, or a wait that is not recorded: with_stack=True shows where"
	}
	return "more work than its peers", ""
}

// loadText is what a straggler is given to do, in times of what the other ranks are, and what says so.
func loadText(s *Straggler) string {
	return "×" + tables.Fixed(s.Load, 2) + " the work by " + s.LoadBy
}

func (t *jobText) links() {
	j := &t.r.Job
	for i, l := range j.Links {
		if i == 3 {
			break
		}
		t.label("slow links", "%s of group %s take %s, elsewhere %s", l.Class, GroupName(&j.Groups[l.Group]), tables.Duration(l.Median), tables.Duration(l.Best))
	}
	most := slices.Clone(j.Bandwidth)
	slices.SortStableFunc(most, func(a, b Bandwidth) int { return cmp.Compare(int64(b.Count)*b.Bucket, int64(a.Count)*a.Bucket) })
	for i, b := range most {
		if i == 3 {
			break
		}
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

// walk prints the path, runs of one name on one rank folded.
func (t *jobText) walk() {
	t.line("")
	t.line("%s", t.bold("the walk, from the start of the window"))
	segs := t.r.Job.Path.Segments
	for i := 0; i < len(segs); {
		s := &segs[i]
		k, sum := i, int64(0)
		for k < len(segs) && segs[k].Name == s.Name && segs[k].Kind == s.Kind && segs[k].Rank == s.Rank {
			sum += segs[k].End - segs[k].Start
			k++
		}
		times := ""
		if k-i > 1 {
			times = tables.Plain(int64(k-i)) + "×"
		}
		t.line("%12s %11s %5s  %-12s rank %-5d %s", "+"+tables.Duration(s.Start-t.r.Job.Window.Start), tables.Duration(sum), times, s.Kind, s.Rank, Shorten(Plain(Readable(s.Name)), max(t.width-58, 20)))
		i = k
	}
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
