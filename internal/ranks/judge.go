package ranks

import (
	"cmp"
	"math"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/trace"
)

// Shares of a step from which on more work than that of the peers counts.
const (
	hitShare         = 0.02
	alternatingShare = 0.03
	oneOffShare      = 0.05
	oftenShare       = 0.6  // of steps, and of excess that belongs to one unit
	stageShare       = 0.08 // by which a stage has more work than the mean of the stages
)

// Judge says what is wrong with a job. What that costs is not asked yet: package replay does it.
func Judge(j *Job, expected Expected) *Verdict {
	x := &judge{Job: j}
	x.peers, x.stages = j.peers()
	v := x.verdict()
	v.Links, v.Bandwidth = j.links(expected)
	return v
}

// Plain judges ranks of which nothing is known but what they worked in each step and in what. stages are those of the pipeline, and ask says by how much the job
// ends earlier without what stragglers have more than their peers.
func Plain(list []*Summary, stages []int, ask func([]Straggler) int64) (*Job, *Verdict) {
	j := &Job{Step: -1}
	j.Members = make([]Member, len(list))
	j.Waits.ByMember = make([]MemberWait, len(list))
	byStage := map[int][]int32{}
	for m, s := range list {
		j.Members[m] = Member{Summary: s}
		byStage[stages[m]] = append(byStage[stages[m]], int32(m))
	}
	x := &judge{Job: j, peers: make([][]int32, len(list)), stages: stages, plain: true}
	for m, st := range stages {
		x.peers[m] = byStage[st]
	}
	v := x.verdict()
	all := v.Stragglers
	v.Weigh(j, func(sets [][]int) (gains []int64) {
		for _, set := range sets {
			var list []Straggler
			for _, i := range set {
				list = append(list, all[i])
			}
			gains = append(gains, ask(list))
		}
		return gains
	})
	return j, v
}

// verdict says who is slow.
func (x *judge) verdict() *Verdict {
	v := &Verdict{Steps: x.jobSteps()}
	for i := range v.Steps {
		if v.Steps[i].Whole {
			x.steps = append(x.steps, &v.Steps[i])
		}
	}
	v.Judged = len(x.steps)
	markBad(x.steps)
	for _, s := range x.steps {
		x.excess(s, x.peers)
	}
	if len(x.steps) >= 2 {
		v.Stragglers = x.stragglers()
		slices.SortStableFunc(v.Stragglers, func(a, b Straggler) int { return cmp.Compare(b.Excess, a.Excess) })
		for i := range v.Stragglers {
			v.Stragglers[i].plain = x.plain
			v.Stragglers[i].span(x)
		}
	}
	return v
}

// jobSteps puts the steps of the ranks together by their numbers.
func (j *judge) jobSteps() []JobStep {
	cut := j.cutSteps()
	at := map[int32]int{}
	var list []JobStep
	have := map[int32]int{}
	end := map[int32]int64{}
	stepping := 0
	for m := range j.Members {
		x := &j.Members[m]
		if len(x.Steps) > 0 {
			stepping++
		}
		for i := range x.Steps {
			st := &x.Steps[i]
			n, ok := at[st.Number]
			if !ok {
				n = len(list)
				at[st.Number] = n
				list = append(list, JobStep{Number: st.Number, Type: st.Type, Start: math.MaxInt64, Own: make([]int64, len(j.Members)), Wait: make([]int64, len(j.Members)), Caused: make([]int64, len(j.Members)),
					Excess: make([]int64, len(j.Members)), gpu: make([]int64, len(j.Members)), host: make([]int64, len(j.Members)), more: [2][]int64{make([]int64, len(j.Members)), make([]int64, len(j.Members))},
					over: [numWheres][]int64{make([]int64, len(j.Members)), make([]int64, len(j.Members)), make([]int64, len(j.Members))}})
				copy(list[n].Caused, j.Waits.ByStep[st.Number])
			}
			s := &list[n]
			s.Start = min(s.Start, x.Clock.Global(st.Start))
			s.longest = max(s.longest, st.End-st.Start)
			end[st.Number] = max(end[st.Number], x.Clock.Global(st.End))
			have[st.Number]++
			for c, ns := range st.Path {
				if critpath.Class(c) != critpath.ClassComm {
					s.Own[m] += ns
				}
			}
		}
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		if n, ok := at[in.Step]; ok {
			for _, r := range j.refs(i) {
				list[n].Wait[r.Member] += j.Wait(in, r)
			}
		}
	}
	slices.SortFunc(list, func(a, b JobStep) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number)) })
	for i := range list {
		s := &list[i]
		to := end[s.Number]
		if i+1 < len(list) && list[i+1].Start < to {
			to = list[i+1].Start
		}
		s.Duration = max(to-s.Start, 0)
		s.Whole = have[s.Number] == stepping && s.Duration > 0 && !cut[s.Number]
	}
	return list
}

// cutShare is the part of the collectives of a step that a rank may lack at the border of what it recorded: records get lost.
const cutShare = 8

// cutSteps are the steps that some rank recorded in part: of the first and of the last in which it has collectives it has fewer than a peer. The annotation of
// a step may outlive its records.
func (j *judge) cutSteps() map[int32]bool {
	cut := map[int32]bool{}
	most := map[*int32]map[int32]int{} // by the list of peers, which those of a stage share: collectives by step
	edges := make([][2]int32, len(j.Members))
	counts := make([][2]int, len(j.Members))
	for m := range j.Members {
		count := map[int32]int{}
		e := [2]int32{math.MaxInt32, -1}
		for i := range j.Members[m].Ops {
			if n := j.Members[m].Ops[i].Step; n >= 0 {
				count[n]++
				e = [2]int32{min(e[0], n), max(e[1], n)}
			}
		}
		first := &j.peers[m][0]
		if most[first] == nil {
			most[first] = map[int32]int{}
		}
		for n, c := range count {
			most[first][n] = max(most[first][n], c)
		}
		edges[m], counts[m] = e, [2]int{count[e[0]], count[e[1]]}
	}
	for m := range j.Members {
		of := most[&j.peers[m][0]]
		for i, n := range edges[m] {
			cut[n] = cut[n] || (of[n]-counts[m][i])*cutShare > of[n]
		}
		for i := range j.Members[m].Steps { // before the first of them and after the last it recorded none
			if n := j.Members[m].Steps[i].Number; n < edges[m][0] || n > edges[m][1] {
				cut[n] = cut[n] || of[n] > 0
			}
		}
	}
	return cut
}

// markBad marks steps that take much longer than the others of their type.
func markBad(steps []*JobStep) {
	var all [trace.NumIterationTypes][]int64
	var limit [trace.NumIterationTypes]int64
	for _, s := range steps {
		all[s.Type] = append(all[s.Type], s.Duration)
	}
	for t, list := range all {
		if len(list) > 0 {
			mid := stat.Median(slices.Clone(list))
			limit[t] = mid + max(6*stat.Spread(list, mid), mid/10)
		}
	}
	for _, s := range steps {
		s.Bad = s.Duration > limit[s.Type]
	}
}

// slowStage finds a stage of a pipeline with more work than the others.
func (j *judge) slowStage() *Straggler {
	steps, stages := j.steps, j.stages
	n := slices.Max(stages) + 1
	if n < 2 {
		return nil
	}
	var hits []int32
	found, excess, own, whole := -1, int64(0), int64(0), int64(0)
	more := make([][]int64, n) // of each stage in each step, than the mean
	for _, s := range steps {
		list, sum, there := j.stageWork(s.Number, stages)
		if there < 2 {
			continue
		}
		top := 0
		for st := range list {
			if list[st].mid > list[top].mid {
				top = st
			}
			more[st] = append(more[st], list[st].mid-sum/there)
		}
		if mid, mean := list[top].mid, sum/there; float64(mid-mean) >= stageShare*float64(mean) && (found < 0 || found == top) {
			found = top
			hits = append(hits, s.Number)
			own += mid
			excess += mid - (sum-mid)/(there-1)
			whole += s.Duration
		}
	}
	if found < 0 || float64(len(hits)) < oftenShare*float64(len(steps)) || !steadily(more[found]) {
		return nil
	}
	x := &Straggler{Kind: Persistent, Unit: "stage", Name: "stage " + itoa(found), Steps: hits, From: -1, Until: -1, With: -1, Excess: excess, Share: float64(excess) / float64(max(whole, 1)),
		Cause: Cause{What: MoreWork, Factor: float64(own) / float64(max(own-excess, 1))}}
	for m, st := range stages {
		if st == found {
			x.Members = append(x.Members, int32(m))
		}
	}
	return x
}

// judge compares the ranks of a job in the steps that are whole.
type judge struct {
	*Job
	steps  []*JobStep
	peers  [][]int32
	stages []int
	noise  [numWheres]int64

	plain bool // nothing is known but how long ranks work
}

// strike is a step in which a member had much more work than its peers.
type strike struct {
	step   *JobStep
	member int32
	share  float64
}
