package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/stat"
)

// work is what a rank did in a step: on its own path and in all, on the device and on threads.
type work struct{ pathGPU, busyGPU, pathHost, busyHost int64 }

func (j *Gathered) work(member int32, number int32) work {
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
func (j *Gathered) excess(s *JobStep, peers [][]int32) {
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
func (j *Gathered) stageWork(number int32, stages []int) (list []stageWork, sum, there int64) {
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
