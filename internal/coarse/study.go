package coarse

import (
	"cmp"
	"slices"
	"strconv"

	"overlay/internal/par"
	"overlay/internal/stat"
)

// Study is what replays say. Times are means over the steps.
type Study struct {
	Steps     int        `json:"steps" unit:"count"`
	Ranks     int        `json:"ranks" unit:"count" about:"with records"`
	Stages    int        `json:"stages" unit:"count" about:"of the pipeline"`
	Replicas  int        `json:"replicas" unit:"count" about:"ranks of a stage"`
	Records   int        `json:"records" unit:"count"`
	Unmatched int        `json:"unmatched" unit:"count" about:"transfers whose other side has no record"`
	Recorded  int64      `json:"recorded_ns" unit:"ns" about:"a step as it was recorded"`
	Residual  int64      `json:"residual_ns" unit:"ns" about:"by which a replay of the records is off at most"`
	Replayed  int64      `json:"replayed_ns" unit:"ns" about:"a step without the time between the records of a rank"`
	Even      int64      `json:"even_ns" unit:"ns" about:"the same with even operations: work takes the mean of its kind, a transfer the median"`
	Slowdown  float64    `json:"slowdown" unit:"count" about:"S: replayed_ns over even_ns"`
	Slowest   []int      `json:"slowest" table:"records_slowest" entry:"rank" unit:"id" about:"the slowest 3 % of the ranks"`
	Without   int64      `json:"without_slowest_ns" unit:"ns" about:"a step with even operations on these ranks"`
	MW        float64    `json:"m_w" unit:"share" about:"of the slowdown, what is gone then"`
	Balanced  int64      `json:"without_last_stage_ns" unit:"ns" about:"a step with even operations on the last stage"`
	MS        float64    `json:"m_s" unit:"share" about:"of the slowdown, what is gone then"`
	Slow      []Slow     `json:"slow" table:"records_slow" about:"ranks and stages that are slower than their peers, what costs most first; as traces of a job are judged"`
	ByRank    []Rank     `json:"by_rank" table:"records_ranks" about:"ranks, the slowest first"`
	ByStage   []Part     `json:"by_stage" table:"records_stages" about:"stages, the slowest first"`
	ByReplica []Part     `json:"by_replica" table:"records_replicas" about:"replicas, the slowest first"`
	ByKind    []Part     `json:"by_kind" table:"records_kinds" about:"kinds of operations, the slowest first"`
	ByStep    []StepTime `json:"by_step" table:"records_steps" about:"steps in order"`

	WithoutKind int64  `json:"-"` // a step with even operations of the first of ByKind
	Headline    string `json:"-"` // who costs most, in a line
	lastStage   int32
}

// Rank is a rank.
type Rank struct {
	Rank     int32   `json:"rank" unit:"id"`
	Stage    int32   `json:"stage" unit:"id"`
	Replica  int32   `json:"replica" unit:"id"`
	Slowdown float64 `json:"slowdown" unit:"count" about:"S_w: that of its stage or of its replica, the smaller one"`
	Work     int64   `json:"work_ns" unit:"ns" about:"own work in a step"`
	Peers    int64   `json:"peers_ns" unit:"ns" about:"the median of the other ranks of its stage; 0 without others"`
}

// Part is a stage, a replica or a kind of operations.
type Part struct {
	Name     string  `json:"name"`
	Count    int     `json:"operations" unit:"count"`
	Time     int64   `json:"time_ns" unit:"ns" about:"of its operations in a step, without waits"`
	Even     int64   `json:"even_ns" unit:"ns" about:"of even ones"`
	Slowdown float64 `json:"slowdown" unit:"count" about:"S_t: of a step in which only these take what was recorded and all others are even"`

	id int32 // a kind is a position in Job.Kinds
}

// StepTime is a step.
type StepTime struct {
	Step     int64   `json:"step" unit:"id"`
	Recorded int64   `json:"recorded_ns" unit:"ns"`
	Replayed int64   `json:"replayed_ns" unit:"ns" about:"without the time between the records of a rank"`
	Slowdown float64 `json:"slowdown" unit:"count"`
}

// Most is how many stages, replicas and kinds are replayed by themselves. So the work is linear in the records.
const Most = 32

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
	s := &Study{Records: len(j.Records), Steps: len(x.steps), Slowest: []int{}}
	kinds, ranks := x.parts(func(r *Record) int32 { return r.Kind }, func(id int32) string { return j.Kinds[id] }), x.ranks()
	stages := x.parts(func(r *Record) int32 { return r.Stage }, func(id int32) string { return "stage " + strconv.Itoa(int(id)) })
	replicas := x.parts(func(r *Record) int32 { return r.Replica }, func(id int32) string { return "replica " + strconv.Itoa(int(id)) })
	s.Ranks, s.Stages, s.Replicas = len(ranks), len(stages), len(replicas)
	for _, p := range stages {
		s.lastStage = max(s.lastStage, p.id)
	}
	s.ByKind, s.ByStage, s.ByReplica = kinds[:min(len(kinds), Most)], stages[:min(len(stages), Most)], replicas[:min(len(replicas), Most)]
	asks := []func(r *Record) bool{func(*Record) bool { return true }, func(*Record) bool { return false }}
	for _, p := range s.ByKind {
		asks = append(asks, func(r *Record) bool { return r.Kind == p.id })
	}
	for _, p := range s.ByStage {
		asks = append(asks, func(r *Record) bool { return r.Stage == p.id })
	}
	for _, p := range s.ByReplica {
		asks = append(asks, func(r *Record) bool { return r.Replica == p.id })
	}
	times, all := x.replay(asks), []int64(nil)
	for i, st := range x.steps {
		recorded := int64(0)
		for k := range st.records {
			recorded = max(recorded, st.end(int32(k))-st.begin)
		}
		s.Unmatched += st.unmatched
		s.ByStep = append(s.ByStep, StepTime{st.records[0].Step, recorded, times[0][i], over(times[0][i], times[1][i])})
		all = append(all, recorded)
		s.Residual = max(s.Residual, st.residual())
	}
	s.Recorded, s.Replayed, s.Even = mean(all), mean(times[0]), mean(times[1])
	rest := times[2:]
	for _, list := range [][]Part{s.ByKind, s.ByStage, s.ByReplica} {
		for i := range list {
			list[i].Slowdown = over(mean(rest[i]), s.Even)
		}
		rest = rest[len(list):]
		slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	}
	s.ByRank = slowest(ranks, s)
	for _, r := range s.ByRank[:min(len(s.ByRank), max(1, s.Ranks*3/100))] {
		s.Slowest = append(s.Slowest, int(r.Rank))
	}
	slices.Sort(s.Slowest)
	kind := s.ByKind[0].id
	times = x.replay([]func(r *Record) bool{
		func(r *Record) bool { _, slow := slices.BinarySearch(s.Slowest, int(r.Rank)); return !slow },
		func(r *Record) bool { return r.Stage != s.lastStage },
		func(r *Record) bool { return r.Kind != kind },
	})
	s.Without, s.Balanced, s.WithoutKind = mean(times[0]), mean(times[1]), mean(times[2])
	s.Slow, s.Headline = x.slow(j)
	s.Slowdown, s.MW, s.MS = over(s.Replayed, s.Even), s.Explains(s.Without), s.Explains(s.Balanced)
	return s
}

// mean is exact where the sum is no number any more: steps whose records lie a century apart.
func mean(list []int64) (whole int64) {
	n, rest := int64(len(list)), int64(0)
	for _, ns := range list {
		whole += ns / n
		rest += ns % n
	}
	return whole + rest/n
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
func (x *study) parts(of func(r *Record) int32, name func(id int32) string) []Part {
	at := map[int32]int{}
	var list []Part
	for _, s := range x.steps {
		for i := range s.records {
			id := of(&s.records[i])
			k, ok := at[id]
			if !ok {
				k = len(list)
				at[id], list = k, append(list, Part{id: id, Name: name(id)})
			}
			list[k].Count++
			list[k].Time += s.transfer[i]
			list[k].Even += x.even[s.records[i].Kind]
		}
	}
	slices.SortFunc(list, func(a, b Part) int {
		return cmp.Or(cmp.Compare(b.Time-b.Even, a.Time-a.Even), cmp.Compare(a.id, b.id))
	})
	for i := range list {
		list[i].Time /= int64(len(x.steps))
		list[i].Even /= int64(len(x.steps))
	}
	return list
}

// ranks sums the work of ranks.
func (x *study) ranks() []Rank {
	at := map[int32]int{}
	var list []Rank
	for _, s := range x.steps {
		for i := range s.records {
			r := &s.records[i]
			k, ok := at[r.Rank]
			if !ok {
				k = len(list)
				at[r.Rank], list = k, append(list, Rank{Rank: r.Rank, Stage: r.Stage, Replica: r.Replica})
			}
			if !x.kinds[r.Kind].transfer {
				list[k].Work += s.transfer[i]
			}
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
		list[i].Peers = stat.MedianBut(work[list[i].Stage], list[i].Work)
	}
	return list
}

// slowest gives the ranks of the stages and replicas that were replayed the smaller slowdown of the two, and sorts them by it.
func slowest(ranks []Rank, s *Study) []Rank {
	list := []Rank{}
	stages, replicas := map[int32]float64{}, map[int32]float64{}
	for _, p := range s.ByStage {
		stages[p.id] = p.Slowdown
	}
	for _, p := range s.ByReplica {
		replicas[p.id] = p.Slowdown
	}
	for _, r := range ranks {
		a, b := stages[r.Stage], replicas[r.Replica]
		if r.Slowdown = min(a, b); a > 0 && b > 0 {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Rank) int {
		return cmp.Or(cmp.Compare(b.Slowdown, a.Slowdown), cmp.Compare(b.Work-b.Peers, a.Work-a.Peers), cmp.Compare(a.Rank, b.Rank))
	})
	return list
}
