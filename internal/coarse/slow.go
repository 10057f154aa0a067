package coarse

import (
	"math"
	"slices"
	"strconv"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
)

// Slow is a rank, or a stage, with more work than its peers.
type Slow struct {
	Who       string  `json:"who"`
	Ranks     []int   `json:"ranks" table:"records_slow_ranks" entry:"rank" unit:"id" about:"its ranks"`
	Words     string  `json:"words" about:"how it is slow"`
	When      string  `json:"when" about:"from which step on, and until which; empty where it is in all that have a record of each rank"`
	Factor    float64 `json:"factor" unit:"count" about:"by which its work takes longer"`
	Gain      int64   `json:"gain_ns" unit:"ns" about:"of a step, when its operations are even"`
	GainShare float64 `json:"gain_share" unit:"share" about:"of such a step"`
	Waited    bool    `json:"waited_for" unit:"count" about:"whether that makes the job end earlier"`
}

// slow asks the judge of traces who is slow, by what ranks work in each step and in which kind of operation, and by replays of the steps with even operations. The second result is the first line.
func (x *study) slow(j *Job) ([]Slow, string) {
	out, whole := []Slow{}, x.whole()
	if len(whole) == 0 {
		return out, ""
	}
	list, stages, ids := x.summaries(j, whole)
	job, v := ranks.Plain(list, stages, func(s []ranks.Straggler) int64 { return x.without(list, whole, s) })
	number := func(n *int32) { // steps are numbered one by one for the judge
		if *n >= 0 {
			if real := whole[*n].records[0].Step; real >= 0 && real <= math.MaxInt32 {
				*n = int32(real)
			} else {
				*n = -1
			}
		}
	}
	add := func(stragglers []ranks.Straggler, waited bool) {
		for i := range stragglers {
			s := &stragglers[i]
			number(&s.From)
			number(&s.Until)
			if s.Unit == "stage" {
				s.Name = "stage " + strconv.Itoa(int(ids[stages[s.Members[0]]]))
			}
			each, share := s.PerStep(s.Worth())
			y := Slow{Who: job.Who(s), Words: s.Words(), When: s.When(), Factor: s.Cause.Factor, Gain: each, GainShare: share, Waited: waited}
			for _, m := range s.Members {
				y.Ranks = append(y.Ranks, int(job.Members[m].Rank))
			}
			out = append(out, y)
		}
	}
	add(v.Stragglers, true)
	add(v.Idle, false)
	return out, job.Headline(v)
}

// whole are the steps in which every rank has a record.
func (x *study) whole() (list []*step) {
	all := map[int32]bool{}
	count := make([]int, len(x.steps))
	for n, st := range x.steps {
		for i := range st.records { // by rank
			if i == 0 || st.records[i].Rank != st.records[i-1].Rank {
				all[st.records[i].Rank] = true
				count[n]++
			}
		}
	}
	for n, st := range x.steps {
		if count[n] == len(all) {
			list = append(list, st)
		}
	}
	return list
}

// summaries are the ranks with what each worked in each of some steps, the stage of each, and how the records number the stages.
func (x *study) summaries(j *Job, steps []*step) (list []*ranks.Summary, stages []int, ids []int32) {
	at := map[int32]*ranks.Summary{}
	stage := map[int32]int32{}
	begin := int64(0) // of a step: the clock may begin anew in each
	for n, st := range steps {
		length := int64(0)
		for i := range st.records {
			r := &st.records[i]
			took := min(st.end(int32(i))-st.begin, math.MaxInt64/4/int64(len(steps)))
			length = max(length, took)
			s := at[r.Rank]
			if s == nil {
				s = &ranks.Summary{Rank: ranks.Rank(r.Rank), Device: -1, Names: j.Kinds}
				at[r.Rank], stage[r.Rank], list = s, r.Stage, append(list, s)
			}
			k := len(s.Steps) - 1
			if k < 0 || s.Steps[k].Number != int32(n) {
				k++
				s.Steps = append(s.Steps, ranks.Step{Number: int32(n), Start: begin, End: begin})
			}
			s.Steps[k].End = max(s.Steps[k].End, begin+took)
			if x.kinds[r.Kind].transfer || st.transfer[i] <= 0 || r.Kind > math.MaxUint16 {
				continue
			}
			ns := st.transfer[i]
			s.Steps[k].BusyGPU += ns
			s.Steps[k].Path[critpath.ClassCompute] += ns
			spent := -1
			for p := len(s.Spent) - 1; p >= 0 && s.Spent[p].Step == int32(k); p-- {
				if s.Spent[p].Name == ranks.Name(r.Kind) {
					spent = p
				}
			}
			if spent < 0 {
				spent, s.Spent = len(s.Spent), append(s.Spent, ranks.Spent{Step: int32(k), Name: ranks.Name(r.Kind)})
			}
			y := &s.Spent[spent]
			y.Busy, y.Path, y.Calls, y.Most = y.Busy+ns, y.Path+ns, y.Calls+1, max(y.Most, ns)
		}
		begin += length
	}
	slices.SortFunc(list, func(a, b *ranks.Summary) int { return int(a.Rank) - int(b.Rank) })
	for _, s := range list {
		ids = append(ids, stage[int32(s.Rank)])
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, s := range list {
		place, _ := slices.BinarySearch(ids, stage[int32(s.Rank)])
		stages = append(stages, place)
	}
	return list, stages, ids
}

// without is by how much the steps end earlier when operations of stragglers are even in the steps in which these are slow.
func (x *study) without(list []*ranks.Summary, steps []*step, s []ranks.Straggler) int64 {
	at := map[int64]int32{} // of the records of a step: its number
	for n, st := range steps {
		at[st.records[0].Step] = int32(n)
	}
	slow := map[[2]int32]bool{}
	for i := range s {
		from, to := s[i].Steps[0], s[i].Steps[len(s[i].Steps)-1]
		for n := from; n <= to; n++ {
			for _, m := range s[i].Members {
				slow[[2]int32{n, int32(list[m].Rank)}] = true
			}
		}
	}
	times := x.replay([]func(r *Record) bool{
		func(*Record) bool { return true },
		func(r *Record) bool { n, ok := at[r.Step]; return !ok || !slow[[2]int32{n, r.Rank}] },
	})
	sum := int64(0)
	for n := range times[0] {
		sum += times[0][n] - times[1][n]
	}
	return sum
}
