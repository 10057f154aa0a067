package report

import (
	"slices"
	"strings"

	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// GroupName names a group with its ranks.
func GroupName(g *JobGroup) string {
	name := Plain(g.Name)
	if g.Desc != "" && g.Desc != g.Name {
		name += " " + Plain(g.Desc)
	}
	return Shorten(name+" ("+roster.Ranges(g.Ranks)+")", 44)
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
		return who + " (ranks " + roster.Ranges(s.Ranks) + ")"
	case len(s.Ranks) > 1:
		return "ranks " + roster.Ranges(s.Ranks)
	}
	return "rank " + roster.Ranges(s.Ranks)
}
