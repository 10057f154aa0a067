package jobadvice

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/advise"
	"overlay/internal/ranks"
	"overlay/internal/ranks/roster"
	"overlay/internal/tables"
)

// lateScenario is the bound of all stragglers.
const lateScenario = "the job is replayed over its collectives with the work of the peers in place of its own; of what a start waited for, that knows only what came last, so the job gains no more"

// evenScenario is the bound of those that are given more: somebody else has to do it.
const evenScenario = "the job is replayed over its collectives with the mean work of the ranks in place of that of each; of what a start waited for, that knows only what came last, so the job gains no more"

// causes are why ranks have more work than their peers, by what package ranks found out.
var causes = []struct {
	what                  ranks.CauseKind
	kind                  ranks.StragglerKind // only of this one; of all where it is empty
	id, title, cause, why string
	action                []string
	verify                string
}{
	{ranks.SlowGPU, "", "rank-gpu-slow", "a GPU is slower than the others", "all its kernels take longer by one factor, and in each collective the others wait for it", "most kernels of the rank take longer by one factor",
		[]string{"on its host: nvidia-smi -q -d CLOCK,PERFORMANCE,TEMPERATURE, or rocm-smi --showclocks; look for another job on the card", "swap its card with another rank's: does the slowness move with it?"},
		"its kernels take as long as those of the other ranks"},
	{ranks.SlowCPU, "", "rank-cpu-slow", "the CPU of a rank is slower than the others", "all its host work takes longer, and in each collective the others wait for it", "most host work of the rank takes longer by one factor",
		[]string{"on its host: look for other load on its cores, for its frequency governor, and for cores on the other socket (numactl --cpunodebind)", "fewer workers of the data loader than cores"},
		"its operators take as long as those of the other ranks"},
	{ranks.DataLoading, "", "rank-data-late", "batches of a rank come late", "it waits for its data loader, and in the next collective all others wait for it", "most of its additional work is the data loader's",
		[]string{"look at its files, its disk and its network: are its shards larger, or farther away?", "more num_workers or prefetch_factor"}, "the data loader takes as long as on the other ranks"},
	{ranks.Pause, ranks.Persistent, "rank-stops", "a rank stops in each step, at the same place", "the others wait for it in the next collective", "one thing on the host takes long in each step, and not on the others",
		[]string{"look at what it does there alone (below): a checkpoint, logging, metrics, a lock or a sleep on one rank", "do that on a thread of its own, or every N steps"}, "the slice takes as long as on the other ranks"},
	{ranks.Pause, "", "rank-pauses", "ranks stop for a while, each at another time", "while one stops all wait; with many ranks somebody always does", "one thing on the host takes long once in a step, and not on the others",
		[]string{"gc.disable() after warm-up, and gc.collect() every N steps on all ranks in the same step", "look for paging, checkpoints and logging on one rank at a time"}, "no slice of the host takes long on one rank alone"},
	{ranks.InputSizes, "", "rank-inputs-uneven", "ranks get inputs of unequal size", "the kernels of the rank with the largest batch take longest, and the others wait for it", "the factor by which kernels take longer changes from step to step, or the shapes of inputs do",
		[]string{"sort samples into batches of about one length, so that all ranks have about as many tokens in a step", "pad or pack to one size"}, "compute of a step takes about as long on each rank"},
	{ranks.MoreData, "", "rank-more-data", "a rank is given more than the others", "its inputs are larger, so it takes longer, and in each collective the others wait for it", "its operators are given more, and that is most of what they take longer",
		[]string{"give each rank as many rows or tokens in a step: DistributedSampler with drop_last=True, or a batch sampler that sorts by length and counts tokens", "uneven shards of embeddings or experts: move tables, or set a capacity for experts",
			"pad or pack to one size"}, "the shapes of inputs are about the same on each rank"},
	{ranks.MoreWork, "", "rank-more-work", "a rank does more than its peers", "in each collective the others wait for it", "its work is more than that of its peers, and no simpler cause fits",
		[]string{"look at what takes longer on it (the names below): is it work that one rank does for all, or an uneven share?", "what is more in ProfilerStep is in no operator: profile(with_stack=True) shows which code it is"}, "its work is about that of its peers"},
}

// stageRule is a stage of a pipeline that has more to do than the others.
var stageRule = rule{id: "stage-more-work", group: advise.Specific, kind: advise.AtMost, level: advise.Medium, blames: true, scenario: lateScenario,
	why: "the GPUs of the stage are busy longer than those of the other stages", title: "a stage of the pipeline has more work than the others",
	cause: "a pipeline is as fast as its slowest stage", action: []string{"move layers to other stages; the first and the last have the embeddings and the loss"},
	verify: "the GPUs of all stages are busy for about as long", find: func(l *look) []found {
		return l.stragglers(func(s *ranks.Straggler) bool { return s.Unit == "stage" }, "move layers to other stages")
	}}

// stragglerRules are one rule a cause.
func stragglerRules() []rule {
	list := []rule{stageRule}
	for i, c := range causes {
		scenario := lateScenario
		if c.what == ranks.InputSizes || c.what == ranks.MoreData {
			scenario = evenScenario
		}
		list = append(list, rule{id: c.id, group: advise.Specific, kind: advise.AtMost, level: advise.Medium, blames: true, scenario: scenario, why: c.why, title: c.title,
			cause: c.cause, action: c.action, verify: c.verify, find: func(l *look) []found {
				return l.stragglers(func(s *ranks.Straggler) bool { return s.Unit != "stage" && causeOf(s) == i }, c.action[0])
			}})
	}
	return list
}

// causeOf is the first of the causes that fits a straggler.
func causeOf(s *ranks.Straggler) int {
	for i := range causes {
		if c := &causes[i]; c.what == s.Cause.What && (c.kind == "" || c.kind == s.Kind) {
			return i
		}
	}
	return -1
}

// stragglers are those that were found and fit.
func (l *look) stragglers(fits func(*ranks.Straggler) bool, do string) (list []found) {
	for i := range l.verdict.Stragglers {
		s := &l.verdict.Stragglers[i]
		if !fits(s) {
			continue
		}
		lead, path := l.lead(s.Members, s.Kind != ranks.Persistent), l.pathTime(s.Members)
		f := found{members: s.Members, gain: l.Gain(s), unsure: l.lacks(), do: do}
		f.saw = fmt.Sprintf("%s, in %d of %s", l.who(s), len(s.Steps), tables.Counted(l.verdict.Judged, "step"))
		if s.Cause.Factor > 1 {
			f.saw += ", ×" + tables.Fixed(s.Cause.Factor, 2)
		}
		f.saw += loadWords(&s.Cause)
		f.numbers = []advise.Number{{Name: "beyond the work of its peers", NS: s.Excess}, {Name: "later than the others in collectives of the path", NS: lead}, {Name: "on the path", NS: path}}
		if s.Cause.What == ranks.MoreData { // of which it may be rid otherwise
			f.numbers = append(f.numbers, advise.Number{Name: "the job sooner, if nobody had what it has more", NS: l.Without(s)})
		}
		for _, n := range s.Names[:min(len(s.Names), 3)] {
			f.numbers = append(f.numbers, advise.Number{Name: "more in " + n.Name, NS: n.NS})
		}
		list = append(list, f)
	}
	return list
}

// loadWords say what a straggler is given, where that is about its cause, and what it is given more of.
func loadWords(c *ranks.Cause) string {
	x := &c.Load
	by := " by input shapes"
	if !x.Shapes {
		by = " by grids"
	}
	switch {
	case x.Times == 0 || !slices.Contains([]ranks.CauseKind{ranks.SlowGPU, ranks.SlowCPU, ranks.InputSizes, ranks.MoreData}, c.What):
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
		return "rank " + roster.List(list)
	}
	return "ranks " + roster.List(list)
}
