package coarse

import (
	"cmp"
	"slices"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// Study is what replays say of a job. Times are means over the steps.
type Study struct {
	Steps    []StepTime
	Recorded int64 // a step as it was recorded
	Replayed int64 // without the time between the records of a rank
	Even     int64 // with even operations
	Residual int64 // of a replay of what was recorded, the largest difference of a start or an end: 0

	Kinds, Stages, Replicas []Part // with the most slowdown first; of stages and replicas at most Most, those with the most time beyond even
	Ranks                   []Rank // with the most slowdown first; those of the stages and replicas above

	Slowest        []int32 // the slowest 3 % of the ranks
	WithoutSlowest int64   // a step with even operations on these
	WithoutLast    int64   // a step with even operations on the last stage
	WithoutStage   int64   // a step with even operations on the first of Stages
	WithoutKind    int64   // a step with even operations of the first of Kinds
	Records        int
	NumRanks       int
	NumStages      int
	NumReplicas    int
	Unmatched      int // operations that meet nobody though they should
	LastStage      int32
}

// StepTime is a step.
type StepTime struct {
	Step                     int64
	Recorded, Replayed, Even int64
}

// Part is a kind, a stage or a replica.
type Part struct {
	ID       int32 // a kind is a position in Job.Kinds
	Count    int
	Time     int64 // of its operations, without waits; a mean over the steps
	EvenTime int64 // what these take when they are even
	Slowdown float64
}

// Rank is a rank.
type Rank struct {
	ID, Stage, Replica int32
	Slowdown           float64
	Work, PeersWork    int64 // own, and the median of the other ranks of its stage, by step; 0 where there is no other
	Kind               int32 // in which it has the most time beyond even
}

// Most is how many stages, replicas and kinds are replayed by themselves. So the work is linear in the records.
const Most = 32

// Slowdown is of the time with even operations.
func (s *Study) Slowdown() float64 { return over(s.Replayed, s.Even) }

// Explains is which part of the slowdown is gone when a step takes so long: M_W of the slowest ranks, M_S of the last stage. 0 where nothing is slow.
func (s *Study) Explains(without int64) float64 {
	if s.Replayed <= s.Even {
		return 0
	}
	return float64(s.Replayed-without) / float64(s.Replayed-s.Even)
}

func over(a, b int64) float64 {
	if b <= 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// study is a study on its way.
type study struct {
	kinds []kind
	steps []*step
	even  []int64 // by kind
}

// Judge makes the study of a job. It sorts the records.
func (j *Job) Judge() *Study {
	x := &study{}
	for _, name := range j.Kinds {
		x.kinds = append(x.kinds, kindOf(name))
	}
	x.steps = j.steps(x.kinds)
	x.findEven()
	s := &Study{Records: len(j.Records)}
	kinds, stages, replicas, ranks := x.parts(func(r *Record) int32 { return r.Kind }), x.parts(func(r *Record) int32 { return r.Stage }), x.parts(func(r *Record) int32 { return r.Replica }), x.ranks()
	s.NumRanks, s.NumStages, s.NumReplicas = len(ranks), len(stages), len(replicas)
	for _, p := range stages {
		s.LastStage = max(s.LastStage, p.ID)
	}
	s.Kinds, s.Stages, s.Replicas = kinds[:min(len(kinds), Most)], stages[:min(len(stages), Most)], replicas[:min(len(replicas), Most)]
	asks := []func(r *Record) bool{func(*Record) bool { return true }, func(*Record) bool { return false }}
	for _, p := range s.Kinds {
		asks = append(asks, func(r *Record) bool { return r.Kind == p.ID })
	}
	for _, p := range s.Stages {
		asks = append(asks, func(r *Record) bool { return r.Stage == p.ID })
	}
	for _, p := range s.Replicas {
		asks = append(asks, func(r *Record) bool { return r.Replica == p.ID })
	}
	times := x.replay(asks)
	for i, st := range x.steps {
		recorded := int64(0)
		for k := range st.records {
			recorded = max(recorded, st.end(int32(k))-st.begin)
		}
		s.Unmatched += st.unmatched
		s.Steps = append(s.Steps, StepTime{st.records[0].Step, recorded, times[0][i], times[1][i]})
		s.Recorded += recorded
		s.Residual = max(s.Residual, st.residual())
	}
	s.Recorded, s.Replayed, s.Even = s.Recorded/int64(len(x.steps)), mean(times[0]), mean(times[1])
	rest := times[2:]
	for _, list := range [][]Part{s.Kinds, s.Stages, s.Replicas} {
		for i := range list {
			list[i].Slowdown = over(mean(rest[i]), s.Even)
		}
		rest = rest[len(list):]
		slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	}
	s.Ranks = x.slowest(ranks, s)
	for _, r := range s.Ranks[:min(len(s.Ranks), max(1, s.NumRanks*3/100))] {
		s.Slowest = append(s.Slowest, r.ID)
	}
	slices.Sort(s.Slowest)
	worst, kind := s.Stages[0].ID, s.Kinds[0].ID
	times = x.replay([]func(r *Record) bool{
		func(r *Record) bool { _, slow := slices.BinarySearch(s.Slowest, r.Rank); return !slow },
		func(r *Record) bool { return r.Stage != s.LastStage },
		func(r *Record) bool { return r.Stage != worst },
		func(r *Record) bool { return r.Kind != kind },
	})
	s.WithoutSlowest, s.WithoutLast, s.WithoutStage, s.WithoutKind = mean(times[0]), mean(times[1]), mean(times[2]), mean(times[3])
	return s
}

func mean(list []int64) (sum int64) {
	for _, ns := range list {
		sum += ns
	}
	return sum / int64(len(list))
}

// findEven finds how long an even operation of each kind takes.
func (x *study) findEven() {
	all := make([][]int64, len(x.kinds))
	for _, s := range x.steps {
		for i := range s.records {
			all[s.records[i].Kind] = append(all[s.records[i].Kind], s.transfer[i])
		}
	}
	x.even = make([]int64, len(all))
	for k, list := range all {
		switch {
		case len(list) == 0:
		case x.kinds[k].transfer:
			x.even[k] = stat.Median(list)
		default:
			x.even[k] = mean(list)
		}
	}
}

// replay gives the times of steps for each of some questions: which operations take what was recorded. The others are even.
func (x *study) replay(asks []func(r *Record) bool) [][]int64 {
	times := make([][]int64, len(asks))
	for i := range times {
		times[i] = make([]int64, len(x.steps))
	}
	par.Each(len(x.steps), func(i int) {
		s := x.steps[i]
		room := s.room()
		for k, recorded := range asks {
			times[k][i] = s.replay(room, false, func(o int32) int64 {
				if recorded(&s.records[o]) {
					return s.transfer[o]
				}
				return x.even[s.records[o].Kind]
			})
		}
	})
	return times
}

// residual replays what was recorded.
func (s *step) residual() (most int64) {
	room := s.room()
	s.replay(room, true, func(i int32) int64 { return s.transfer[i] })
	for i := range s.records {
		r := &s.records[i]
		a, b := room.start[i]+s.begin-r.Start, room.end[i]+s.begin-s.end(int32(i))
		most = max(most, a, -a, b, -b)
	}
	return most
}

// parts sums operations by something that they have, those with the most time beyond even first.
func (x *study) parts(of func(r *Record) int32) []Part {
	at := map[int32]int{}
	var list []Part
	for _, s := range x.steps {
		for i := range s.records {
			id := of(&s.records[i])
			k, ok := at[id]
			if !ok {
				k = len(list)
				at[id], list = k, append(list, Part{ID: id})
			}
			list[k].Count++
			list[k].Time += s.transfer[i]
			list[k].EvenTime += x.even[s.records[i].Kind]
		}
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Time-b.EvenTime, a.Time-a.EvenTime), cmp.Compare(a.ID, b.ID))
	})
	for i := range list {
		list[i].Time /= int64(len(x.steps))
		list[i].EvenTime /= int64(len(x.steps))
	}
	return list
}

// ranks sums the work of ranks.
func (x *study) ranks() []Rank {
	at := map[int32]int{}
	var list []Rank
	beyond := map[[2]int32]int64{} // even, by position and kind
	for _, s := range x.steps {
		for i := range s.records {
			r := &s.records[i]
			k, ok := at[r.Rank]
			if !ok {
				k = len(list)
				at[r.Rank], list = k, append(list, Rank{ID: r.Rank, Stage: r.Stage, Replica: r.Replica, Kind: r.Kind})
			}
			if !x.kinds[r.Kind].transfer {
				list[k].Work += s.transfer[i]
			}
			of := [2]int32{int32(k), r.Kind}
			beyond[of] += s.transfer[i] - x.even[r.Kind]
		}
	}
	for of, ns := range beyond {
		r := &list[of[0]]
		if best := beyond[[2]int32{of[0], r.Kind}]; ns > best || ns == best && of[1] < r.Kind {
			r.Kind = of[1]
		}
	}
	work := map[int32][]int64{} // of stages
	for i := range list {
		list[i].Work /= int64(len(x.steps))
		work[list[i].Stage] = append(work[list[i].Stage], list[i].Work)
	}
	for _, all := range work {
		slices.Sort(all)
	}
	for i := range list {
		list[i].PeersWork = stat.MedianBut(work[list[i].Stage], list[i].Work)
	}
	return list
}

// slowest gives the ranks of the stages and replicas that were replayed the smaller slowdown of the two, and sorts them by it.
func (x *study) slowest(ranks []Rank, s *Study) (list []Rank) {
	stages, replicas := map[int32]float64{}, map[int32]float64{}
	for _, p := range s.Stages {
		stages[p.ID] = p.Slowdown
	}
	for _, p := range s.Replicas {
		replicas[p.ID] = p.Slowdown
	}
	for _, r := range ranks {
		a, b := stages[r.Stage], replicas[r.Replica]
		if r.Slowdown = min(a, b); a > 0 && b > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Rank) int {
		return cmp.Or(cmp.Compare(b.Slowdown, a.Slowdown), cmp.Compare(b.Work-b.PeersWork, a.Work-a.PeersWork), cmp.Compare(a.ID, b.ID))
	})
	return list
}
