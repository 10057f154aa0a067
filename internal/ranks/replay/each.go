package replay

import (
	"cmp"
	"fmt"
	"slices"

	"overlay/internal/ranks"
)

// Part is a rank, a host or a step with more work than the median of peers, or a stage with more than the mean of the others: what it costs.
type Part struct {
	Name   string
	Excess int64 // its work beyond the median, in rank-time
	Saved  int64 // by how much the job ends earlier when it alone is at the median
	Costs  int64 // by how much the job ends later than with all at the median, when it alone stays
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
	answers := m.Ask(questions)
	for i := range list {
		list[i].Saved, list[i].Costs = answers[2*i+1].Saved, answers[2*i+2].Window-answers[0].Window
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Or(cmp.Compare(b.Costs, a.Costs), cmp.Compare(b.Saved, a.Saved)) })
	return list, left, nil
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
