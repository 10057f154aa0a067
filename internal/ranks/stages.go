package ranks

import (
	"maps"
	"slices"
	"strings"
)

// stagesByTransfers tells the stage of each member by the places that its transfers name, of traces that name no groups; -1 where nothing
// does. In a pipeline each stage sends to the next one, and gets back from it what that sends: both ways between the same two
// places. In a ring all go one way.
func (j *Gathered) stagesByTransfers() []int {
	type ends struct {
		low, high []int32 // members on either side
		way       uint64  // seen: up, down or both
	}
	of := map[uint32]*ends{} // by what the token says of the two places
	for m := range j.Members {
		seen := map[[2]uint32]bool{}
		for i := range j.Members[m].Kinds {
			k := &j.Members[m].Kinds[i]
			mark := k.Token & marksOfWay
			if k.Coll != SendRecv || k.Peer != NoRank || mark == 0 || mark == loose || uint32(k.Token) == 0 {
				continue
			}
			e := of[uint32(k.Token)]
			if e == nil {
				e = &ends{}
				of[uint32(k.Token)] = e
			}
			e.way |= mark
			low := k.Sends == (mark == direction(true))
			if at := [2]uint32{uint32(k.Token), uint32(b2i(low))}; !seen[at] {
				seen[at] = true
				if low {
					e.low = append(e.low, int32(m))
				} else {
					e.high = append(e.high, int32(m))
				}
			}
		}
	}
	stages := make([]int, len(j.Members))
	for m := range stages {
		stages[m] = -1
	}
	places := slices.Sorted(maps.Keys(of))
	for range len(of) + 1 { // each place is one above the highest that it has below it
		same := true
		for _, x := range places {
			e := of[x]
			if e.way != direction(true)|direction(false) {
				continue
			}
			below := 0
			for _, m := range e.low {
				below = max(below, stages[m])
			}
			put := func(list []int32, stage int) {
				for _, m := range list {
					if stages[m] < stage {
						stages[m], same = stage, false
					}
				}
			}
			put(e.low, below)
			put(e.high, below+1)
		}
		if same {
			return stages
		}
	}
	for m := range stages { // ranks that are below each other, in different groups, make no pipeline
		stages[m] = -1
	}
	return stages
}

// peers gives each member the members that do the same work: those of the same stage of the pipeline. The second result is the
// stage of each.
func (j *Gathered) peers() ([][]int32, []int) {
	stages := slices.Repeat([]int{-1}, len(j.Members))
	for g := range j.Groups {
		x := &j.Groups[g]
		if !x.Known || !isPipeline(x.Desc) {
			continue
		}
		for m := range j.Members {
			if at := slices.Index(x.Ranks, j.Members[m].Rank); at >= 0 {
				stages[m] = at
			}
		}
	}
	if !slices.ContainsFunc(stages, func(st int) bool { return st >= 0 }) {
		stages = j.stagesByTransfers()
	}
	byStage := map[int][]int32{}
	for m, st := range stages {
		byStage[st] = append(byStage[st], int32(m))
	}
	list := make([][]int32, len(j.Members))
	for m, st := range stages {
		list[m] = byStage[st]
	}
	return list, stages
}

// StageOf is the stage of the pipeline of each member, -1 where it is in none.
func (j *Gathered) StageOf() []int {
	_, of := j.peers()
	return of
}

// Stages are the members of each stage of the pipeline; of a job without one, all.
func (j *Gathered) Stages() [][]int32 {
	_, of := j.peers()
	list := make([][]int32, slices.Max(of)+2)
	for m, st := range of {
		list[st+1] = append(list[st+1], int32(m))
	}
	return slices.DeleteFunc(list, func(l []int32) bool { return len(l) == 0 })
}

// isPipeline tells the group of a pipeline by its description.
func isPipeline(desc string) bool {
	desc = strings.ToUpper(desc)
	if strings.Contains(desc, "PIPELINE") && !strings.Contains(desc, "DATA") {
		return true
	}
	return slices.Contains(strings.FieldsFunc(desc, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '0' || r > '9') }), "PP")
}
