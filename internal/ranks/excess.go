package ranks

import (
	"cmp"
	"slices"

	"overlay/internal/stat"
)

// Excess is what a member worked more in one step than the median of its peers, on its device or on threads.
type Excess struct {
	Member, Step int32 // Step is the number
	Host         bool
	NS           int64
	Names        map[string]int64 // what of it names took, where the peers' lists of names tell
	Own          map[string]int64 // what these took in all
	Busy         int64            // of the member in the step
}

// Excesses are what all members worked more than the median of their peers, by step, side and member. It is dealt out to the names that took longer than
// on the peers, in proportion to by how much.
func (j *Job) Excesses() (list []Excess) {
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
	slices.SortStableFunc(list, func(a, b Excess) int { // a rank may have two steps of one number
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(b2i(a.Host), b2i(b.Host)), cmp.Compare(a.Member, b.Member))
	})
	return list
}

// excessOf is the same of members that are peers of each other.
func (j *Job) excessOf(peers []int32, host bool) (list []Excess) {
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
				if more := s.Busy - stat.MedianBut(names[x.Names[s.Name]], s.Busy); more > 0 {
					e.Names[x.Names[s.Name]], e.Own[x.Names[s.Name]] = more, s.Busy
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
