package ranks

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"overlay/internal/critpath"
)

// Verdict is what is wrong with a job.
type Verdict struct {
	Steps      []JobStep // by start
	Judged     int       // steps that are whole on every rank
	Stragglers []Straggler
	Links      []Link
	Bandwidth  []Bandwidth
}

// JobStep is a step over all ranks. The lists have one entry a member: own work, waits in collectives, and work beyond
// that of its peers.
type JobStep struct {
	Number          int32
	Start, Duration int64
	Whole           bool // every rank recorded all of it
	Bad             bool // much longer than the others
	Own, Wait       []int64
	Excess          []int64

	gpu, host []int64    // of Excess
	more      [2][]int64 // of the device and of threads, what a member did more than its peers, or less: below 0
	jump      int64      // by which a clock jumped in it: as much longer it may seem on some ranks
	longest   int64      // of the ranks' own steps; more than Duration where threads run ahead of the device
	busiest   int32      // member with most work, -1; by lead before the one that is in the middle
	lead      int64
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
	Steps   []int32 // in which it hits
	Who     []int32 // of Steps: the member with most; nil of a stage
	Excess  int64   // sum over those steps
	Share   float64 // of their durations
	Cause   Cause
	Names   []NameExcess
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

// Judge says what is wrong with a job.
func Judge(j *Job, expected Expected) *Verdict {
	v := &Verdict{}
	v.Steps = j.jobSteps()
	peers, stages := j.peers()
	var judged []*JobStep
	for i := range v.Steps {
		s := &v.Steps[i]
		if s.Whole {
			judged = append(judged, s)
		}
	}
	v.Judged = len(judged)
	markBad(judged)
	for _, s := range judged {
		j.excess(s, peers)
	}
	if len(judged) >= 2 {
		if s := j.slowStage(judged, stages); s != nil {
			v.Stragglers = append(v.Stragglers, *s)
		} else {
			v.Stragglers = j.stragglers(judged, peers)
		}
	}
	v.Links, v.Bandwidth = j.links(expected)
	return v
}

// jobSteps puts the steps of the ranks together by their numbers.
func (j *Job) jobSteps() []JobStep {
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
				list = append(list, JobStep{Number: st.Number, Start: math.MaxInt64, Own: make([]int64, len(j.Members)), Wait: make([]int64, len(j.Members)),
					Excess: make([]int64, len(j.Members)), gpu: make([]int64, len(j.Members)), host: make([]int64, len(j.Members)), more: [2][]int64{make([]int64, len(j.Members)), make([]int64, len(j.Members))}, busiest: -1})
			}
			s := &list[n]
			s.Start = min(s.Start, x.Clock.Global(st.Start))
			s.longest = max(s.longest, st.End-st.Start)
			s.jump = max(s.jump, x.Clock.jump(st.Start, st.End))
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
		s.Whole = have[s.Number] == stepping && s.Duration > 0
	}
	return list
}

// markBad marks steps that take much longer than the others.
func markBad(steps []*JobStep) {
	var all []int64
	for _, s := range steps {
		all = append(all, s.Duration)
	}
	mid := median(slices.Clone(all))
	limit := mid + max(6*spread(all, mid), mid/10)
	for _, s := range steps {
		s.Bad = s.Duration > limit
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
	for i := range j.Members[member].Steps {
		st := &j.Members[member].Steps[i]
		if st.Number != number {
			continue
		}
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
	return work{}
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
	mids := map[*int32]work{} // by the list of peers, which those of a stage share
	for m := range all {
		first := &peers[m][0]
		mid, ok := mids[first]
		if !ok {
			of := func(part func(*work) int64) int64 {
				v := make([]int64, 0, len(peers[m]))
				for _, k := range peers[m] {
					v = append(v, part(&all[k]))
				}
				slices.Sort(v)
				return v[(len(v)-1)/2]
			}
			mid = work{of(func(x *work) int64 { return x.pathGPU }), of(func(x *work) int64 { return x.busyGPU }),
				of(func(x *work) int64 { return x.pathHost }), of(func(x *work) int64 { return x.busyHost })}
			mids[first] = mid
		}
		w := &all[m]
		gpu, host := w.busyGPU-mid.busyGPU, w.busyHost-mid.busyHost
		s.more[0][m], s.more[1][m] = gpu, host
		s.gpu[m] = max(0, min(w.pathGPU-mid.pathGPU, gpu))
		s.host[m] = max(0, min(w.pathHost-mid.pathHost, host)-s.jump)
		least := s.Wait[m]
		for _, p := range peers[m] {
			least = min(least, s.Wait[p])
		}
		s.host[m] = max(0, s.host[m]-(s.Wait[m]-least)) // nobody works while it waits
		s.Excess[m] = s.gpu[m] + s.host[m]
		if lead := max(gpu, host); s.busiest < 0 || lead > s.lead {
			s.busiest, s.lead = int32(m), lead
		}
	}
}

// length is what work of a step is compared with.
func (s *JobStep) length() int64 { return max(s.Duration, s.longest) }

// hit is the member with the largest excess of a step, if that is much; its share of the step.
func (s *JobStep) hit() (int32, float64) {
	best := 0
	for m := range s.Excess {
		if s.Excess[m] > s.Excess[best] {
			best = m
		}
	}
	e := s.Excess[best]
	others := slices.Delete(slices.Clone(s.Excess), best, best+1)
	mid := median(slices.Clone(others))
	if float64(e) < hitShare*float64(s.length()) || e < 6*spread(others, mid) {
		return -1, 0
	}
	return int32(best), float64(e) / float64(s.length())
}

// slowStage finds a stage of a pipeline with more work than the others.
func (j *Job) slowStage(steps []*JobStep, stages []int) *Straggler {
	n := slices.Max(stages) + 1
	if n < 2 {
		return nil
	}
	var hits []int32
	found, excess, own, whole := -1, int64(0), int64(0), int64(0)
	more := make([][]int64, n) // of each stage in each step, than the mean
	for _, s := range steps {
		busy := make([][]int64, n)
		for m, st := range stages {
			if st >= 0 {
				busy[st] = append(busy[st], j.work(int32(m), s.Number).busyGPU)
			}
		}
		mids, sum, there := make([]int64, n), int64(0), int64(0)
		for st := range busy {
			if len(busy[st]) > 0 {
				slices.Sort(busy[st])
				mids[st] = busy[st][(len(busy[st])-1)/2] // of two ranks, of which one is slow, the other
				sum += mids[st]
				there++
			}
		}
		if there < 2 {
			continue
		}
		top := 0
		for st := range mids {
			if mids[st] > mids[top] {
				top = st
			}
		}
		for st := range mids {
			more[st] = append(more[st], mids[st]-sum/there)
		}
		if mean := sum / there; float64(mids[top]-mean) >= stageShare*float64(mean) && (found < 0 || found == top) {
			found = top
			hits = append(hits, s.Number)
			own += mids[top]
			excess += mids[top] - (sum-mids[top])/(there-1)
			whole += s.Duration
		}
	}
	if found < 0 || float64(len(hits)) < oftenShare*float64(len(steps)) || !steadily(more[found]) {
		return nil
	}
	x := &Straggler{Kind: Persistent, Unit: "stage", Name: "stage " + itoa(found), Steps: hits, Excess: excess, Share: float64(excess) / float64(max(whole, 1)),
		Cause: Cause{What: MoreWork, Factor: float64(own) / float64(max(own-excess, 1))}}
	for m, st := range stages {
		if st == found {
			x.Members = append(x.Members, int32(m))
		}
	}
	return x
}
