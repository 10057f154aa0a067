package replay

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/par"
	"overlay/internal/ranks"
)

// Part is a rank, a host or a step with more work than the median of peers, or a stage with more than the mean of the others: what it costs.
type Part struct {
	Name   string
	Excess int64 // its work beyond the median, in rank-time
	Saved  int64 // by how much the job ends earlier when it alone is at the median
	Costs  int64 // by how much the job ends later than with all at the median, when it alone stays
	Steps  []StepCost
}

// StepCost is what of the costs of a part arises in a step: from the end of the last collective of the step before to that of its own; less than 0 where ranks make up for it.
// The first step has what was before it, and the last all that comes behind: they sum to the costs.
type StepCost struct {
	Step int32 // its number
	NS   int64
}

// partsAsked is of how many parts it is asked what they cost, those with the most excess.
const partsAsked = 32

// Parts are the words of what Each tells apart.
var Parts = []string{"rank", "host", "stage", "step"}

// Each asks of each rank, host, stage or step what it costs alone, those that cost most first. left are those with less excess, which were not asked.
func (m *Model) Each(what string) (list, left []Part, err error) {
	all, stages := m.Job.Excesses(), m.Job.StageOf()
	if what == "stage" {
		all = m.Job.OverStages()
	}
	of := func(e *ranks.Excess) string {
		x := &m.Job.Members[e.Member]
		switch what {
		case "rank":
			return fmt.Sprintf("rank %d%s", x.Rank, x.Where())
		case "host":
			return x.Host
		case "stage":
			return fmt.Sprintf("stage %d", stages[e.Member])
		}
		if e.Step == ranks.Beside {
			return ""
		}
		return fmt.Sprintf("step %d", e.Step)
	}
	at, names := map[string]int{}, make([]string, len(all))
	for i := range all {
		name := of(&all[i])
		names[i] = name
		if name == "" {
			continue
		}
		if _, ok := at[name]; !ok {
			at[name], list = len(list), append(list, Part{Name: name})
		}
		if all[i].Step != ranks.Beside {
			list[at[name]].Excess += all[i].NS
		}
	}
	if len(list) == 0 {
		if what == "host" && len(all) > 0 {
			return nil, nil, fmt.Errorf("the traces do not say on which hosts they were recorded: give --hosts")
		}
		if what == "stage" {
			return nil, nil, fmt.Errorf("no stage of a pipeline has more work than the others, or the ranks have none")
		}
		return nil, nil, m.noPeers()
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Excess, a.Excess), cmp.Compare(a.Name, b.Name)) })
	if len(list) > partsAsked {
		list, left = list[:partsAsked], list[partsAsked:]
	}
	where := AtMedian(all)
	questions := []Question{where(every)}
	for _, x := range list {
		questions = append(questions, where(func(i int) bool { return names[i] == x.Name }), where(func(i int) bool { return names[i] != x.Name }))
	}
	numbers, steps := m.numbers()
	answers, ends := make([]Answer, len(questions)), make([][]int64, len(questions))
	par.Each(len(questions), func(i int) {
		x := m.replay(questions[i])
		answers[i] = m.answerOf(x)
		ends[i] = m.stepEnds(len(numbers), steps, x.later, answers[i].Window)
		m.runs.Put(x)
	})
	for i := range list {
		list[i].Saved, list[i].Costs = answers[2*i+1].Saved, answers[2*i+2].Window-answers[0].Window
		before := int64(0)
		for k, n := range numbers {
			later := ends[2*i+2][k] - ends[0][k]
			list[i].Steps, before = append(list[i].Steps, StepCost{n, later - before}), later
		}
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Costs, a.Costs), cmp.Compare(b.Saved, a.Saved)) })
	return list, left, nil
}

// numbers are those of the steps that have collectives, in order; steps is per port the place of its step among them, -1 for none.
func (m *Model) numbers() (numbers, steps []int32) {
	for i := range m.Job.Members {
		for _, op := range m.Job.Members[i].Ops {
			steps = append(steps, op.Step)
		}
		steps = append(steps, -1)
	}
	numbers = slices.Clone(steps)
	slices.Sort(numbers)
	numbers = slices.DeleteFunc(slices.Compact(numbers), func(n int32) bool { return n < 0 })
	for p, n := range steps {
		if n >= 0 {
			k, _ := slices.BinarySearch(numbers, n)
			steps[p] = int32(k)
		}
	}
	return numbers, steps
}

// stepEnds is when each of n steps would have ended: with its last collective, not before the step before it, and the last one with the window.
func (m *Model) stepEnds(n int, steps []int32, later []int64, window int64) []int64 {
	ends := slices.Repeat(m.Job.Window[:1], n)
	for p, k := range steps {
		if k >= 0 {
			ends[k] = max(ends[k], m.end(int32(p))+later[p])
		}
	}
	for k := 1; k < n; k++ {
		ends[k] = max(ends[k], ends[k-1])
	}
	if n > 0 {
		ends[n-1] = m.Job.Window[0] + window
	}
	return ends
}

// Median are the questions what the job takes with all ranks at the median of their peers: in all, and by side; and of a pipeline, with its stages rebalanced.
func (m *Model) Median() ([]Scenario, error) {
	all := m.Job.Excesses()
	if len(all) == 0 {
		return nil, m.noPeers()
	}
	where := AtMedian(all)
	list := []Scenario{
		{Name: "every rank at the median of its peers", Ask: where(every)},
		{Name: "devices at the median", Ask: where(func(i int) bool { return !all[i].Host })},
		{Name: "threads at the median", Ask: where(func(i int) bool { return all[i].Host })},
	}
	if stages := m.Job.Stages(); len(stages) > 1 {
		list = append(list, Scenario{Name: "stages of the pipeline rebalanced", Ask: Changes(m.rebalanced(stages)), Longer: true})
	}
	return list, nil
}

// rebalanced deals the work of devices out evenly over the stages of a pipeline: all of it is still done.
func (m *Model) rebalanced(stages [][]int32) (list []Change) {
	of, sum := make([]float64, len(stages)), 0.0 // what a device of the stage works, and all of them
	for st, members := range stages {
		for _, i := range members {
			for k := range m.Job.Members[i].Steps {
				of[st] += float64(m.Job.Members[i].Steps[k].BusyGPU) / float64(len(members))
			}
		}
		sum += of[st]
	}
	for st, members := range stages {
		if of[st] > 0 {
			in := func(x *ranks.Member) bool {
				return slices.ContainsFunc(members, func(i int32) bool { return m.Job.Members[i].Rank == x.Rank })
			}
			list = append(list, Change{Factor: int64(sum / float64(len(stages)) / of[st] * Whole), Ranks: in, Work: func(_ string, w ranks.Work) bool { return !w.Host() }})
		}
	}
	return list
}

func (m *Model) noPeers() error {
	return fmt.Errorf("no rank can be compared with peers: that takes two ranks that do the same, with profiler steps")
}
