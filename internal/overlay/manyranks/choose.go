package manyranks

import (
	"cmp"
	"slices"

	"overlay/internal/ranks"
)

// Limits of what is drawn when nobody says which ranks: a browser holds about 0.9 KB an event, and two gigabytes.
const (
	MostEvents = 1_500_000
	mostChosen = 8
)

// Choose picks the ranks whose events are drawn: all, unless few are asked for or they have more than MostEvents events together, else those that tell
// most of the job, at most eight and as many as fit: with a part of the path, with more work than their peers, the one that waits
// most, one in the middle of each stage, and the one with least work. The first is drawn even if it is larger.
func Choose(j *ranks.Job, v *ranks.Verdict, few bool) []bool {
	drawn, events := make([]bool, len(j.Members)), 0
	for m := range j.Members {
		events += j.Members[m].Events
	}
	if events <= MostEvents && !few {
		for m := range drawn {
			drawn[m] = true
		}
		return drawn
	}
	n := 0
	events = 0
	for _, m := range byInterest(j, v) {
		if drawn[m] || n == mostChosen || n > 0 && events+j.Members[m].Events > MostEvents {
			continue
		}
		drawn[m] = true
		events += j.Members[m].Events
		n++
	}
	return drawn
}

// byInterest lists members, the most telling first; some are there twice.
func byInterest(j *ranks.Job, v *ranks.Verdict) (order []int32) {
	path := make([]int64, len(j.Members))
	for i := range j.Path {
		path[j.Path[i].Member] += j.Path[i].End - j.Path[i].Start
	}
	all := make([]int32, len(j.Members))
	for m := range all {
		all[m] = int32(m)
	}
	sorted := func(key func(m int32) int64) []int32 { // largest first
		list := slices.Clone(all)
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(key(b), key(a)) })
		return list
	}
	for _, m := range sorted(func(m int32) int64 { return path[m] }) {
		if path[m]*50 >= j.Window[1]-j.Window[0] {
			order = append(order, m)
		}
	}
	for i := range v.Stragglers {
		order = append(order, v.Stragglers[i].Members...)
	}
	waited := func(m int32) int64 { return j.Waits.ByMember[m].Waited }
	order = append(order, sorted(waited)[0])
	busy := func(m int32) (ns int64) {
		for i := range j.Members[m].Steps {
			ns += j.Members[m].Steps[i].BusyGPU + j.Members[m].Steps[i].BusyHost
		}
		return ns
	}
	for _, stage := range j.Stages() {
		slices.SortStableFunc(stage, func(a, b int32) int { return cmp.Or(cmp.Compare(busy(a), busy(b)), cmp.Compare(waited(a), waited(b))) })
		order = append(order, stage[len(stage)/2])
	}
	return append(order, sorted(func(m int32) int64 { return -busy(m) })[0])
}
