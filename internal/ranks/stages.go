package ranks

import (
	"maps"
	"slices"
)

// stagesByTransfers tells the stage of each member by the places that its transfers name, of traces that name no groups; -1 where nothing
// does. In a pipeline each stage sends to the next one, and gets back from it what that sends: both ways between the same two
// places. In a ring all go one way.
func (j *Job) stagesByTransfers() []int {
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
