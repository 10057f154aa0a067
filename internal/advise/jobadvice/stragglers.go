package jobadvice

import (
	"fmt"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
)

// What is asked of the job for stragglers, and for those that are given more: somebody else has to do it. Without chains there is a bound.
const (
	lateScenario  = "the job is replayed with what it works beyond the median of its peers taken away"
	evenScenario  = "the job is replayed with the mean work of the ranks in place of that of each"
	boundScenario = "nothing is replayed, as nothing says what collectives followed from: the bound is its work beyond the median of its peers, as far as the path leads over it"
)

// stragglerRules are one rule a cause.
func stragglerRules() (list []rule) {
	for i := range ranks.Reasons {
		r := &ranks.Reasons[i]
		scenario := lateScenario
		if r.Even {
			scenario = evenScenario
		}
		list = append(list, rule{id: r.Rule, group: advise.Specific, kind: advise.Predicted, level: advise.Medium, blames: true, scenario: scenario, why: r.Evidence, title: r.Title,
			cause: r.What, action: r.Do, verify: r.Verify, find: func(l *look) []found {
				return l.stragglers(func(s *ranks.Straggler) bool { return s.Reason() == r }, r.Do[0])
			}})
	}
	return list
}

// stragglers are those that were found and fit.
func (l *look) stragglers(fits func(*ranks.Straggler) bool, do string) (list []found) {
	for i := range l.verdict.Stragglers {
		s := &l.verdict.Stragglers[i]
		if !fits(s) {
			continue
		}
		f := found{members: s.Members, gain: s.Gain, bound: s.Bound, unsure: l.lacks(), do: do}
		f.saw = fmt.Sprintf("%s, in %d of %s", l.who(s), len(s.Steps), tables.Counted(l.verdict.Judged, "step"))
		if s.Cause.Factor > 1 {
			f.saw += ", ×" + tables.Fixed(s.Cause.Factor, 2)
		}
		f.saw += loadWords(&s.Cause, s.Reason().Given)
		f.numbers = []advise.Number{{Name: "beyond the work of its peers", NS: s.Excess}, {Name: "on the path", NS: l.pathTime(s.Members)}}
		if s.With >= 0 {
			f.saw += "; " + l.GainWords(l.verdict, i)
			f.numbers = append(f.numbers, advise.Number{Name: "the job sooner without it and " + l.Who(&l.verdict.Stragglers[s.With]), NS: s.Both})
		}
		if s.Cause.What == ranks.MoreData && !s.Bound { // of which it may be rid otherwise
			f.numbers = append(f.numbers, advise.Number{Name: "the job sooner, if nobody had what it has more", NS: s.Spared})
		}
		for _, n := range s.Names[:min(len(s.Names), 3)] {
			f.numbers = append(f.numbers, advise.Number{Name: "more in " + l.readable(n.Name), NS: n.NS})
		}
		list = append(list, f)
	}
	return list
}

// loadWords say what a straggler is given, where that is about its cause, and what it is given more of.
func loadWords(c *ranks.Cause, given bool) string {
	x := &c.Load
	by := " by input shapes"
	if !x.Shapes {
		by = " by grids"
	}
	switch {
	case x.Times == 0 || !given:
		return ""
	case x.Equal():
		return ", given as much as the others" + by
	case x.Most > 1 && (c.What == ranks.MoreData || c.What == ranks.InputSizes):
		return fmt.Sprintf(", given ×%s%s (%s ×%s %s)", tables.Fixed(x.Times, 2), by, x.Name, tables.Fixed(x.Most, 2), unitWords[x.Unit])
	}
	return ", given ×" + tables.Fixed(x.Times, 2) + by
}

var unitWords = [ranks.NumUnits]string{"the FLOPs", "the bytes", "the elements", "the threads"}

// who is a straggler in a few words.
func (l *look) who(s *ranks.Straggler) string {
	who := l.rankWords(s.Members)
	if s.Unit != "rank" {
		who, _, _ = strings.Cut(who, " (")
		who = strings.TrimSpace(s.Unit+" "+s.Name) + " (" + who + ")"
	}
	return who
}

// rankWords writes members as rank 3, or ranks 0-3, 8.
func (l *look) rankWords(members []int32) string {
	var list []int64
	for _, m := range members {
		list = append(list, int64(l.Members[m].Rank))
	}
	if len(list) == 1 {
		return "rank " + roster.List(list) + l.Members[members[0]].Where()
	}
	return "ranks " + roster.List(list)
}
