package ranks

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/stat"
	"overlay/internal/trace"
)

// Verdict is what is wrong with a job.
type Verdict struct {
	Steps      []JobStep   // by start
	Judged     int         // steps that are whole on every rank
	Stragglers []Straggler // what costs most first
	Idle       []Straggler // slower than their peers, and nobody waits for them
	Links      []Link
	Bandwidth  []Bandwidth
}

// JobStep is a step over all ranks. The lists have one entry a member: own work, waits in collectives, and work beyond
// that of its peers.
type JobStep struct {
	Number          int32
	Type            trace.IterationType // of the iterations of a server
	Start, Duration int64
	Whole           bool // every rank recorded all of it
	Bad             bool // much longer than the others
	Own, Wait       []int64
	Excess          []int64

	gpu, host []int64            // of Excess
	over      [numWheres][]int64 // of the work of a member on a side what its peers do not do, wherever its path is
	more      [2][]int64         // of the device and of threads, what a member did more than its peers, or less: below 0
	longest   int64              // of the ranks' own steps; more than Duration where threads run ahead of the device
}

// StragglerKind says when a straggler is slow.
type StragglerKind string

// The kinds.
const (
	Persistent  StragglerKind = "persistent"  // in most steps the same one
	Alternating StragglerKind = "alternating" // by turns
	OneOff      StragglerKind = "one_off"
)

// Straggler is a rank, or several that belong together, with more work than its peers that also shows on its own path. The peers of a stage are the other stages.
type Straggler struct {
	Kind    StragglerKind
	Unit    string // rank, host, group, stage
	Name    string // of the unit, "" for ranks
	Members []int32
	Steps   []int32 // in which it hits; of a persistent one all from the first to the last
	Who     []int32 // of Steps: the member with most; nil of a stage
	From    int32   // the first of Steps where the ones before were judged too, else -1
	Until   int32   // the last of Steps where later ones were judged too, else -1
	Excess  int64   // sum over those steps
	Share   float64 // of their durations
	Cause   Cause
	Names   []NameExcess

	// What Weigh finds.
	Gain   int64 // by how much the job ends earlier without it alone
	Stays  int64 // by how much less earlier without all others than without all: what it costs if it alone stays
	Both   int64 // where Gain is little, by how much without it and With, if that is much
	With   int   // place of that one in the list, -1 for none
	Spared int64 // of one whose work others would have to do: Gain if nobody had to
	Bound  bool  // nothing was replayed: Gain and Stays are no more than this

	Count int   // steps over which these spread, those among them that are not whole
	step  int64 // how long one of Steps is, on the average
	plain bool  // nothing says where it is slow
}

// Worth is what a straggler costs the job: where another one is as slow, it gains nothing to mend it alone.
func (s *Straggler) Worth() int64 { return max(s.Gain, s.Stays) }

// PerStep is an amount of the job for each step in which a straggler hits, and as a share of such a step.
func (s *Straggler) PerStep(ns int64) (int64, float64) {
	each := ns / int64(max(s.Count, 1))
	return each, float64(each) / float64(max(s.step, 1))
}

// NameExcess is what one name took beyond what it takes the peers.
type NameExcess struct {
	Name string
	NS   int64
}

// Shares of a step from which on more work than that of the peers counts.
const (
	hitShare         = 0.02
	alternatingShare = 0.03
	oneOffShare      = 0.05
	oftenShare       = 0.6  // of steps, and of excess that belongs to one unit
	stageShare       = 0.08 // by which a stage has more work than the mean of the stages
)

// Expected are bus bandwidths that are known, GB/s: of links within a host and between hosts; 0 when not.
type Expected struct{ Intra, Inter float64 }

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
	j := &Job{Step: -1, Members: make([]Member, len(list))}
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
				list = append(list, JobStep{Number: st.Number, Type: st.Type, Start: math.MaxInt64, Own: make([]int64, len(j.Members)), Wait: make([]int64, len(j.Members)),
					Excess: make([]int64, len(j.Members)), gpu: make([]int64, len(j.Members)), host: make([]int64, len(j.Members)), more: [2][]int64{make([]int64, len(j.Members)), make([]int64, len(j.Members))},
					over: [numWheres][]int64{make([]int64, len(j.Members)), make([]int64, len(j.Members)), make([]int64, len(j.Members))}})
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

// peers gives each member the members that do the same work: those of the same stage of the pipeline. The second result is the
// stage of each.
func (j *Job) peers() ([][]int32, []int) {
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
func (j *Job) StageOf() []int {
	_, of := j.peers()
	return of
}

// Stages are the members of each stage of the pipeline; of a job without one, all.
func (j *Job) Stages() [][]int32 {
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

// work is what a rank did in a step: on its own path and in all, on the device and on threads.
type work struct{ pathGPU, busyGPU, pathHost, busyHost int64 }

func (j *Job) work(member int32, number int32) work {
	x := &j.Members[member]
	at := x.row(number)
	if at < 0 {
		return work{}
	}
	st := &x.Steps[at]
	w := work{busyGPU: st.BusyGPU, busyHost: st.BusyHost}
	for c, ns := range st.Path {
		switch critpath.Class(c) {
		case critpath.ClassComm, critpath.ClassUnexplained:
		case critpath.ClassCompute, critpath.ClassCopy:
			w.pathGPU += ns
		default:
			w.pathHost += ns
		}
	}
	return w
}

// row is the first step of a number, -1 without one. As a rule they are numbered one by one.
func (m *Member) row(number int32) int {
	if len(m.Steps) > 0 {
		i := int64(number) - int64(m.Steps[0].Number)
		if i >= 0 && i < int64(len(m.Steps)) && m.Steps[i].Number == number && (i == 0 || m.Steps[i-1].Number != number) {
			return int(i)
		}
	}
	return slices.IndexFunc(m.Steps, func(s Step) bool { return s.Number == number })
}

// excess says by how much each rank worked more than its peers. It has to show both in what the rank did and on the
// rank's own path: the path alone flips between computing and communicating where these take about as long, and work
// alone may be hidden behind other work.
func (j *Job) excess(s *JobStep, peers [][]int32) {
	all := make([]work, len(j.Members))
	lost := j.lostWork(s.Number, peers)
	for m := range all {
		all[m] = j.work(int32(m), s.Number)
		all[m].busyGPU += lost[m]
	}
	type parts [5][]int64         // of work and waits, ascending
	sorted := map[*int32]*parts{} // by the list of peers, which those of a stage share
	each := func(m int32) [5]int64 {
		w := &all[m]
		return [...]int64{w.pathGPU, w.busyGPU, w.pathHost, w.busyHost, s.Wait[m]}
	}
	for m := range all {
		first := &peers[m][0]
		if sorted[first] == nil {
			sorted[first] = &parts{}
			for _, k := range peers[m] {
				for i, ns := range each(k) {
					sorted[first][i] = append(sorted[first][i], ns)
				}
			}
			for i := range sorted[first] {
				slices.Sort(sorted[first][i])
			}
		}
		more := each(int32(m)) // than its peers
		least := sorted[first][4][0]
		for i, ns := range more {
			more[i] = 0
			if len(peers[m]) > 1 {
				more[i] = ns - stat.MedianBut(sorted[first][i], ns)
			}
		}
		gpu, host := more[1], more[3]
		s.more[0][m], s.more[1][m] = gpu, host
		s.gpu[m] = max(0, min(more[0], gpu))
		s.host[m] = max(0, max(0, min(more[2], host))-(s.Wait[m]-least)) // nobody works while it waits
		s.over[onDevice][m], s.over[onThreads][m] = gpu, host
		if !j.Members[m].device() { // its threads do the collectives
			s.over[onThreads][m] -= s.Wait[m] - least
		}
		s.over[onBoth][m] = gpu + s.over[onThreads][m]
		s.Excess[m] = s.gpu[m] + s.host[m]
	}
}

// length is what work of a step is compared with.
func (s *JobStep) length() int64 { return max(s.Duration, s.longest) }

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

// stageWork is what the devices of a stage work in a step.
type stageWork struct {
	of  []memberWork // ascending
	mid int64        // of the member in the middle; of two, of which one is slow, of the other
}

type memberWork struct {
	member int32
	busy   int64
}

// stageWork gives that of each stage, the sum of what those in the middle work, and how many stages there are in the step.
func (j *Job) stageWork(number int32, stages []int) (list []stageWork, sum, there int64) {
	list = make([]stageWork, slices.Max(stages)+1)
	for m, st := range stages {
		if st >= 0 && j.Members[m].row(number) >= 0 {
			list[st].of = append(list[st].of, memberWork{int32(m), j.work(int32(m), number).busyGPU})
		}
	}
	for st := range list {
		if x := &list[st]; len(x.of) > 0 {
			slices.SortStableFunc(x.of, func(a, b memberWork) int { return cmp.Compare(a.busy, b.busy) })
			x.mid = x.of[(len(x.of)-1)/2].busy
			sum += x.mid
			there++
		}
	}
	return list, sum, there
}
