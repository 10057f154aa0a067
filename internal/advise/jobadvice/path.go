package jobadvice

import (
	"fmt"
	"slices"

	"overlay/internal/advise"
	"overlay/internal/critpath"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/tables"
)

// fewSteps is how many steps on every rank tell who is slow.
const fewSteps = 2

// pathRules are about the path over the ranks.
var pathRules = []rule{
	{id: "rank-late", group: advise.Specific, kind: advise.AtMost, level: advise.Low, blames: true,
		why: "with few steps it cannot be told from chance that a rank comes last", title: "others wait for a rank",
		cause: "it comes last into collectives of the path, and the others do nothing until then", scenario: "the job is replayed over its collectives with nothing left to do for the rank; it gains no more",
		action: []string{"look at what the others waited for (below), in its trace: overlay advise FILE", "profile five steps and more on all ranks: then overlay tells whether it is slow in each"},
		verify: "the rank comes about as early as the others", find: (*look).late},
	{id: "slow-link", group: advise.Specific, kind: advise.AtMost, level: advise.Medium,
		why: "sister groups do the same transfers faster", title: "transfers of a group take longer than those of its sisters",
		cause: "a link, a switch or a card between its ranks is slower", scenario: "nothing is replayed: the bound is the time of the path in transfers of the group, as far as its sisters take less",
		action: []string{"nccl-tests (all_reduce_perf) on the hosts of the group alone, then on another", "NCCL_DEBUG=INFO: do its ranks use the same transport as the others?"},
		verify: "transfers take as long as in the sister groups", find: (*look).links},
	{id: "transfers-exposed", group: advise.General, kind: advise.AtMost, level: advise.Low,
		why: "that all of it can be hidden is the best case", title: "all ranks wait while bytes move", cause: "transfers are on the path over the ranks: nobody is late, and nothing is computed beside them",
		scenario: "nothing is replayed: the bound is the time of transfers on the path over the ranks",
		action:   []string{"DDP: bucket_cap_mb; FSDP: backward_prefetch=BackwardPrefetch.BACKWARD_PRE", "async_op=True, and wait where the result is needed", "fewer bytes: a bf16 compression hook; fewer ranks in a group that crosses hosts"},
		verify:   "communication on the path over the ranks falls", find: (*look).exposed},
}

// late finds ranks that come last in jobs with too few steps to tell stragglers from chance.
func (l *look) late() (list []found) {
	if l.verdict.Judged >= fewSteps {
		return nil
	}
	model, err := replay.New(l.Job)
	all := make([]int32, len(l.Members))
	for m := range all {
		all[m] = int32(m)
	}
	last := len(l.arrivals(all))
	for m := range l.Members {
		one := []int32{int32(m)}
		gain, times := l.pathTime(one), len(l.arrivals(one))
		if gain == 0 || times == 0 || 5*times < 3*last { // where ranks take turns to be last, none of them is late
			continue
		}
		if err == nil {
			gain = min(gain, model.Ask([]replay.Question{replay.Changes([]replay.Change{{
				Ranks: func(x *ranks.Member) bool { return x == &l.Members[m] }, Work: func(string, ranks.Work) bool { return true }}})})[0].Saved)
		}
		f := found{members: one, gain: gain, numbers: []advise.Number{{Name: "collectives of the path that it came into last", Count: int64(times)}, {Name: "on the path", NS: l.pathTime(one)}}}
		f.saw = l.rankWords(one)
		for i, n := range l.charged(int32(m), 3) {
			if i == 0 {
				f.saw += ": " + n.Name
			}
			f.numbers = append(f.numbers, n)
		}
		f.do = fmt.Sprintf("look into %s: what does it do that the others do not?", l.rankWords(one))
		list = append(list, f)
	}
	return list
}

// charged is what others waited for on a member, most rank-time first.
func (l *look) charged(member int32, n int) (list []advise.Number) {
	for _, c := range l.Waits.Charged {
		if c.Member == member && len(list) < n {
			list = append(list, advise.Number{Name: "rank-time waited for " + l.readable(l.Members[member].Names[c.Name]), NS: c.NS})
		}
	}
	return list
}

// links finds groups that move bytes slower than others do.
func (l *look) links() (list []found) {
	for i := range l.verdict.Links {
		x := &l.verdict.Links[i]
		gain := int64(0)
		for _, s := range l.Path {
			if s.Instance >= 0 && s.Kind == critpath.Comm && l.Instances[s.Instance].Group == x.Group && l.Instances[s.Instance].Coll == x.Coll {
				gain += int64(float64(s.End-s.Start) * float64(x.Median-x.Best) / float64(x.Median)) // the product in ns may not fit int64
			}
		}
		g := &l.Groups[x.Group]
		var members []int32
		for m := range l.Members {
			if slices.Contains(g.Ranks, l.Members[m].Rank) {
				members = append(members, int32(m))
			}
		}
		list = append(list, found{members: members, gain: gain, do: "nccl-tests between its hosts; NCCL_DEBUG=INFO",
			saw:     fmt.Sprintf("%s of group %s take %s, elsewhere %s", x.Coll, g.Name, tables.Duration(x.Median), tables.Duration(x.Best)),
			numbers: []advise.Number{{Name: "median", NS: x.Median}, {Name: "median of the fastest group", NS: x.Best}, {Name: "transfers", Count: int64(x.Count)}}})
	}
	return list
}

// exposed finds transfers on the path.
func (l *look) exposed() []found {
	ns, n := int64(0), map[int32]bool{}
	for i := range l.Path {
		if s := &l.Path[i]; s.Kind == critpath.Comm {
			ns += s.End - s.Start
			n[s.Instance] = true
		}
	}
	if ns == 0 {
		return nil
	}
	return []found{{gain: ns, do: "hide transfers: bucket_cap_mb, async_op=True", saw: tables.Counted(len(n), "transfer") + " on the path",
		numbers: []advise.Number{{Name: "transfers on the path", Count: int64(len(n))}, {Name: "in them", NS: ns}}}}
}

// noteRules are about what the traces of a job lack.
var noteRules = []rule{
	{id: "recording-apart", group: advise.Note, kind: advise.None, level: advise.High, why: "the path leads to before a trace begins", title: "the ranks were not recorded from the same moment on",
		cause: "a part of the path lies where a rank was not recorded: what it did there nobody can say", action: []string{"start the profiler in the same step on all ranks: schedule(wait=1, warmup=2, active=5), after a barrier", "overlay advise DIR --step N with a later step"},
		verify: "no time of the path is not recorded", find: func(l *look) []found {
			return l.lacking(critpath.Unrecorded, "start the profiler in the same step on all ranks, or look at a later step: --step")
		}},
	{id: "ranks-missing", group: advise.Note, kind: advise.None, level: advise.High, why: "collectives take too long for those that have a trace", title: "others wait for ranks without a trace",
		cause: "the one that is late was not recorded, or its trace is not here", action: []string{"collect the traces of all ranks"}, verify: "no wait for a missing rank",
		find: func(l *look) []found { return l.lacking(critpath.MissingRank, "collect the traces of all ranks") }},
	{id: "nothing-shared", group: advise.Note, kind: advise.None, level: advise.High, why: "no operation of one rank belongs with one of another", title: "the ranks have no collectives in common",
		cause: "who waits for whom shows in collectives alone, so nothing is said over the ranks", action: []string{"record the GPU too, on all ranks, in the same steps", "are these traces of one job?"}, verify: "overlay report -i DIR says how many collectives were matched",
		find: func(l *look) []found {
			if l.Matching.Instances > 0 {
				return nil
			}
			return []found{{do: "are these traces of one job, with their GPUs recorded?", saw: tables.Counted(len(l.Members), "rank")}}
		}},
	{id: "few-steps", group: advise.Note, kind: advise.None, level: advise.High, why: "stragglers are those that are slow again and again", title: "there are too few steps to tell who is slow",
		cause: "in one step somebody is always last", action: []string{"schedule(wait=1, warmup=2, active=5) and prof.step() on all ranks"}, verify: "two steps and more are complete on every rank",
		find: func(l *look) []found {
			if l.verdict.Judged >= fewSteps || l.Step >= 0 || l.Matching.Instances == 0 {
				return nil
			}
			return []found{{do: "record five steps on all ranks: schedule(active=5)", saw: tables.Counted(l.verdict.Judged, "step") + " complete on every rank"}}
		}},
}

// lackShare is the share of the window from which on what is not recorded is worth a note.
const lackShare = 0.1

// lacking notes time of the path of which nothing is known.
func (l *look) lacking(kind critpath.SegmentKind, do string) []found {
	by := make([]int64, len(l.Members))
	sum := int64(0)
	for i := range l.Path {
		if s := &l.Path[i]; s.Kind == kind {
			by[s.Member] += s.End - s.Start
			sum += s.End - s.Start
		}
	}
	if float64(sum) < lackShare*float64(l.window) {
		return nil
	}
	var members []int32
	for m, ns := range by {
		if ns > 0 {
			members = append(members, int32(m))
		}
	}
	f := found{do: do, saw: tables.Duration(sum) + " of the path", numbers: []advise.Number{{Name: "of the path", NS: sum}}}
	if kind == critpath.Unrecorded { // of a missing rank it is those who wait
		f.members = members
	}
	return []found{f}
}
