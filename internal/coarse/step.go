package coarse

import (
	"cmp"
	"slices"
)

// slack is by how much an operation may seem to begin before the end of one that it waited for, at most, and no more than a quarter of that one: stamps of
// devices and seconds in 32 bits have errors. In records of a real job of 64 ranks neighbours overlap by up to 138 µs and 11 % in this way, and by 99 % and more
// where nothing was waited for.
const slack = 200_000

// step is what the operations of a step wait for. Operations are positions in records, which are by rank and start.
type step struct {
	records []Record
	begin   int64 // the earliest start

	after []int32 // how many in byEnd of its rank an operation starts after
	byEnd []int32 // operations by rank and end
	first []int32 // where the rank of an operation begins, in both
	gap   []int64 // from the end of the last of those to the start

	group    []int32   // the group of an operation
	members  [][]int32 // by start
	held     []int32   // how many of the first members an operation waits for
	transfer []int64   // from the start of the last of these to the end; all of the time where nothing is met

	order     []int32 // an operation that starts, or ^group that ends; each behind what it waits for
	unmatched int     // operations that meet nobody though their kind does
}

func (s *step) end(i int32) int64 { return s.records[i].Start + s.records[i].Duration }

func newStep(records []Record, kinds []kind, last int32) *step {
	n := len(records)
	s := &step{records: records, begin: records[0].Start, after: make([]int32, n), byEnd: make([]int32, n), first: make([]int32, n), gap: make([]int64, n), group: make([]int32, n), held: make([]int32, n), transfer: make([]int64, n)}
	for i := range records {
		s.begin = min(s.begin, records[i].Start)
		s.byEnd[i] = int32(i)
		if i > 0 && records[i-1].Rank == records[i].Rank {
			s.first[i] = s.first[i-1]
		} else {
			s.first[i] = int32(i)
		}
	}
	s.follow()
	s.meet(kinds, last)
	s.sequence()
	for _, list := range s.members {
		s.hold(list)
	}
	return s
}

// follow finds after which of its rank each operation starts.
func (s *step) follow() {
	over := func(i int32) int64 { return s.end(i) - min(slack, s.records[i].Duration/4) }
	slices.SortFunc(s.byEnd, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.first[a], s.first[b]), cmp.Compare(over(a), over(b)), cmp.Compare(a, b))
	})
	var ended int32
	var latest int64
	for i := range s.records {
		if s.first[i] == int32(i) {
			ended, latest = 0, s.begin
		}
		for {
			k := s.first[i] + ended
			if k >= int32(len(s.records)) || s.first[s.byEnd[k]] != s.first[i] || over(s.byEnd[k]) >= s.records[i].Start {
				break
			}
			if e := s.end(s.byEnd[k]); ended == 0 || e > latest {
				latest = e
			}
			ended++
		}
		s.after[i], s.gap[i] = ended, s.records[i].Start-latest
	}
}

// place is what operations that meet have in common: kind, stage, replica, and which in the order of its rank.
type place struct{ kind, stage, replica, number int32 }

// meet puts operations together that meet. last is the last stage of the job.
func (s *step) meet(kinds []kind, last int32) {
	seen := map[[2]int32]int32{} // of a rank and a kind
	at := map[place]int32{}
	for i := range s.records {
		r := &s.records[i]
		of := [2]int32{r.Rank, r.Kind}
		key := place{r.Kind, r.Stage, r.Replica, seen[of]}
		seen[of]++
		k := kinds[r.Kind]
		switch k.meets {
		case inStage:
			key.replica = -1
		case inChain:
			key.stage = -1
		case everyone:
			key.stage, key.replica = -1, -1
		case forward, backward:
			if key.kind = -int32(k.meets); k.below { // the last stage sends to the first where a rank holds several parts of the model
				if key.stage--; key.stage < 0 {
					key.stage = last
				}
			}
		}
		g, ok := at[key]
		if !ok || k.meets == alone {
			g, s.members = int32(len(s.members)), append(s.members, nil)
		}
		if k.meets != alone {
			at[key] = g
		}
		s.members[g], s.group[i] = append(s.members[g], int32(i)), g
	}
	for _, list := range s.members {
		if len(list) == 1 && kinds[s.records[list[0]].Kind].meets != alone {
			s.unmatched++
		}
	}
}

// sequence finds an order in which all can be replayed. Records that contradict each other can make operations wait in a circle: there the group of the
// earliest one is none.
func (s *step) sequence() {
	n := int32(len(s.records))
	var queue []int32 // groups of which all have started
	missing := make([]int, len(s.members))
	for g, list := range s.members {
		missing[g] = len(list)
	}
	next, prefix, started, ended := make([]int32, n), make([]int32, n), make([]bool, n), make([]bool, n) // the first two by first
	advance := func(f int32) {
		for ; f+next[f] < n && s.first[f+next[f]] == f && s.after[f+next[f]] <= prefix[f]; next[f]++ {
			i := f + next[f]
			s.order, started[i] = append(s.order, i), true
			if missing[s.group[i]]--; missing[s.group[i]] == 0 {
				queue = append(queue, s.group[i])
			}
		}
	}
	for i := range n {
		if s.first[i] == i {
			advance(i)
		}
	}
	early := make([]int32, n)
	for i := range early {
		early[i] = int32(i)
	}
	slices.SortFunc(early, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.records[a].Start, s.records[b].Start), cmp.Compare(a, b))
	})
	for len(queue) > 0 || len(early) > 0 {
		if len(queue) == 0 {
			i := early[0]
			if early = early[1:]; ended[i] {
				continue
			}
			list := s.members[s.group[i]]
			s.members[s.group[i]] = nil
			for _, m := range list {
				g := int32(len(s.members))
				s.members, s.group[m], missing = append(s.members, []int32{m}), g, append(missing, 1)
				if s.unmatched++; started[m] {
					missing[g], queue = 0, append(queue, g)
				}
			}
			continue
		}
		g := queue[0]
		queue, s.order = queue[1:], append(s.order, ^g)
		for _, i := range s.members[g] {
			ended[i] = true
		}
		for _, i := range s.members[g] {
			f := s.first[i]
			for ; f+prefix[f] < n && s.first[f+prefix[f]] == f && ended[s.byEnd[f+prefix[f]]]; prefix[f]++ {
			}
			advance(f)
		}
	}
}

// hold finds for which of a group each waits: those that had started before it ended. The root of a broadcast does not wait for whoever comes late.
func (s *step) hold(list []int32) {
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.records[a].Start, s.records[b].Start), cmp.Compare(a, b))
	})
	for _, i := range list {
		held, _ := slices.BinarySearchFunc(list, s.end(i)+1, func(m int32, at int64) int { return cmp.Compare(s.records[m].Start, at) })
		s.held[i] = int32(held)
		s.transfer[i] = s.end(i) - s.records[list[held-1]].Start
	}
}

// replayed is room for a replay.
type replayed struct {
	start, end []int64 // of operations, from the start of the step
	latest     []int64 // of ends of a rank, in their order
	filled     []int32 // how many of these are there, by first
	before     []int64 // of starts of a group
}

func (s *step) room() *replayed {
	n := len(s.records)
	return &replayed{make([]int64, n), make([]int64, n), make([]int64, n), make([]int32, n), nil}
}

// replay gives the time that a step takes when each operation takes what it is told to. gaps keeps the time between the records of a rank.
func (s *step) replay(x *replayed, gaps bool, takes func(i int32) int64) (last int64) {
	clear(x.filled)
	for _, i := range s.order {
		if i >= 0 {
			f, after := s.first[i], s.after[i]
			var at int64
			for ; x.filled[f] < after; x.filled[f]++ {
				k := f + x.filled[f]
				if x.latest[k] = x.end[s.byEnd[k]]; k > f {
					x.latest[k] = max(x.latest[k], x.latest[k-1])
				}
			}
			if after > 0 {
				at = x.latest[f+after-1]
			}
			if gaps {
				at += s.gap[i]
			}
			x.start[i] = at
			continue
		}
		x.before = x.before[:0]
		for k, m := range s.members[^i] {
			if x.before = append(x.before, x.start[m]); k > 0 {
				x.before[k] = max(x.before[k], x.before[k-1])
			}
		}
		for _, m := range s.members[^i] {
			x.end[m] = x.before[s.held[m]-1] + takes(m)
			last = max(last, x.end[m])
		}
	}
	return last
}
