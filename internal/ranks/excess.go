package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/stat"
)

// Excess is what a member worked more in one step than the median of its peers, on its device or on threads.
type Excess struct {
	Member, Step int32 // Step is the number; Beside, of what is in no step
	Host         bool
	NS           int64
	Names        map[string]int64 // what of it names took, where the peers' lists of names tell
	Own          map[string]int64 // what all names in these lists took
	Busy         int64            // of the member in the step
}

// Beside is the number of no step: who has more in most of its steps has it beside them, too. Its NS and Busy are sums over these.
const Beside = -1

// Excesses are what all members worked more than the median of their peers, by step, side and member. It is dealt out to the names that took longer than
// on the peers, in proportion to by how much.
func (j *Gathered) Excesses() (list []Excess) {
	peers, _ := j.peers()
	seen := map[*int32]bool{}
	for m := range peers {
		if key := &peers[m][0]; !seen[key] && len(peers[m]) > 1 {
			seen[key] = true
			for _, host := range [...]bool{false, true} {
				list = append(list, j.excessOf(peers[m], host)...)
			}
		}
	}
	list = j.beside(list)
	sortExcesses(list)
	return list
}

// beside adds what members have more in no step.
func (j *Gathered) beside(list []Excess) []Excess {
	type side struct {
		member int32
		host   bool
	}
	of, order := map[side][]*Excess{}, []side(nil)
	for i := range list {
		key := side{list[i].Member, list[i].Host}
		if of[key] == nil {
			order = append(order, key)
		}
		of[key] = append(of[key], &list[i])
	}
	var more []Excess
	for _, key := range order {
		if 2*len(of[key]) <= len(j.Members[key.member].Steps) {
			continue
		}
		sum := Excess{Member: key.member, Step: Beside, Host: key.host, Names: map[string]int64{}, Own: map[string]int64{}}
		for _, e := range of[key] {
			sum.NS += e.NS
			sum.Busy += e.Busy
			for name, ns := range e.Own {
				sum.Own[name] += ns
				sum.Names[name] += e.Names[name]
			}
		}
		more = append(more, sum)
	}
	return append(list, more...)
}

// excessOf is the same of members that are peers of each other.
func (j *Gathered) excessOf(peers []int32, host bool) (list []Excess) {
	type work struct {
		member int32
		busy   int64
		row    int32
	}
	bySteps := map[int32][]work{}
	spent := make([][][]Spent, len(peers)) // of each peer and row of its steps
	for i, m := range peers {
		x := &j.Members[m]
		spent[i] = make([][]Spent, len(x.Steps))
		for k := range x.Spent {
			if s := &x.Spent[k]; s.Host == host {
				spent[i][s.Step] = append(spent[i][s.Step], *s)
			}
		}
		for row := range x.Steps {
			st := &x.Steps[row]
			busy := st.BusyGPU
			if host {
				busy = st.BusyHost
			}
			bySteps[st.Number] = append(bySteps[st.Number], work{int32(i), busy, int32(row)})
		}
	}
	for number, all := range bySteps {
		names, total := map[string][]int64{}, make([]int64, 0, len(all))
		for _, w := range all {
			total = append(total, w.busy)
			x := &j.Members[peers[w.member]]
			for _, s := range spent[w.member][w.row] {
				names[x.Names[s.Name]] = append(names[x.Names[s.Name]], s.Busy)
			}
		}
		slices.Sort(total)
		for name, v := range names {
			v = append(v, make([]int64, max(0, len(all)-len(v)))...) // a peer that does not list the name spends little on it
			slices.Sort(v)
			names[name] = v
		}
		for _, w := range all {
			over := w.busy - stat.MedianBut(total, w.busy)
			if len(all) < 2 || over <= 0 {
				continue
			}
			e := Excess{Member: peers[w.member], Step: number, Host: host, NS: over, Busy: w.busy, Names: map[string]int64{}, Own: map[string]int64{}}
			x, sum := &j.Members[e.Member], int64(0)
			for _, s := range spent[w.member][w.row] {
				e.Own[x.Names[s.Name]] = s.Busy
				if more := s.Busy - stat.MedianBut(names[x.Names[s.Name]], s.Busy); more > 0 {
					e.Names[x.Names[s.Name]] = more
					sum += more
				}
			}
			for name, more := range e.Names {
				if sum > over {
					e.Names[name] = int64(float64(more) * (float64(over) / float64(sum)))
				}
			}
			list = append(list, e)
		}
	}
	return list
}

// OverStages is by how much more than the mean of the other stages the ranks of a stage have to do on their devices, by step and stage. Of a stage it is the rank in the middle
// that is compared.
func (j *Gathered) OverStages() (list []Excess) {
	_, stages := j.peers()
	numbers := map[int32]bool{}
	for m := range j.Members {
		for i := range j.Members[m].Steps {
			numbers[j.Members[m].Steps[i].Number] = true
		}
	}
	for number := range numbers {
		all, sum, there := j.stageWork(number, stages)
		for _, x := range all {
			over := x.mid - (sum-x.mid)/max(there-1, 1)
			if there < 2 || over <= 0 {
				continue
			}
			for _, w := range x.of {
				list = append(list, Excess{Member: w.member, Step: number, NS: int64(float64(w.busy) * (float64(over) / float64(x.mid))), Busy: w.busy})
			}
		}
	}
	list = j.beside(list)
	sortExcesses(list)
	return list
}

// OverMean is by how much more than the mean of their peers members have to do on their devices, or on threads, by step.
func (j *Gathered) OverMean(host bool) (list []Excess) {
	peers, _ := j.peers()
	busy := func(st *Step) int64 {
		if host {
			return st.BusyHost
		}
		return st.BusyGPU
	}
	means := map[*int32]map[int32]float64{} // by the list of peers, which those of a stage share, and step
	for m := range j.Members {
		key := &peers[m][0]
		if means[key] == nil {
			means[key] = map[int32]float64{}
			for _, p := range peers[m] {
				for i := range j.Members[p].Steps {
					st := &j.Members[p].Steps[i]
					means[key][st.Number] += float64(busy(st)) / float64(len(peers[m]))
				}
			}
		}
		for i := range j.Members[m].Steps {
			st := &j.Members[m].Steps[i]
			if over := busy(st) - int64(means[key][st.Number]); over > 0 {
				list = append(list, Excess{Member: int32(m), Step: st.Number, Host: host, NS: over, Busy: busy(st)})
			}
		}
	}
	sortExcesses(list)
	return list
}

// sortExcesses brings a list into order; a rank may have two steps of one number.
func sortExcesses(list []Excess) {
	slices.SortStableFunc(list, func(a, b Excess) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(b2i(a.Host), b2i(b.Host)), cmp.Compare(a.Member, b.Member))
	})
}
