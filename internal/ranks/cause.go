package ranks

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/stat"
	"overlay/internal/vendors"
)

// asks tells the operators that ask for a collective: what takes long in one may be the wait for it, of collectives of the CPU.
func asks(name string) bool { return strings.HasPrefix(name, vendors.CollectiveOps) }

// causeNames is how many names a verdict lists.
const causeNames = 5

// cause says why members had more work than their peers in some steps: by which names, and whether these are slower all
// alike.
func (j *Gathered) cause(kind StragglerKind, at where, hits []strike, peers [][]int32) (Cause, []NameExcess) {
	gpu, host := int64(0), int64(0)
	for _, x := range hits {
		gpu += x.step.gpu[x.member]
		host += x.step.host[x.member]
	}
	onHost := at == onThreads || at == onBoth && host > gpu
	type total struct {
		nameWork
		steps int
	}
	sums := map[string]*total{}
	var factors []float64
	calls := int64(0) // of the device, beyond those of the peers
	for _, x := range hits {
		own, mid := int64(0), int64(0)
		calls += j.moreCalls(x.member, x.step.Number, peers[x.member])
		for name, n := range j.namesOf(x.member, x.step.Number, onHost, peers[x.member]) {
			t := sums[name]
			if t == nil {
				t = &total{}
				sums[name] = t
			}
			t.own += n.own
			t.mid += n.mid
			t.most = max(t.most, n.most)
			t.calls += n.calls
			t.steps++
			own += n.own
			mid += n.mid
		}
		if mid > 0 {
			factors = append(factors, float64(own)/float64(mid))
		}
	}
	var list []NameExcess
	whole, excess := int64(0), int64(0)
	var alone nameWork // what no peer does, or few
	for name, t := range sums {
		whole += t.own
		if t.mid == 0 {
			alone.own += t.own
			alone.calls += t.calls
		}
		if t.own > t.mid {
			list = append(list, NameExcess{name, t.own - t.mid})
			excess += t.own - t.mid
		}
	}
	slices.SortFunc(list, func(a, b NameExcess) int { return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name)) })
	if len(list) == 0 {
		return Cause{What: MoreWork}, nil
	}
	factor := 0.0
	for _, f := range factors {
		factor += f / float64(len(factors))
	}
	slower := int64(0) // time of names that are slower by about the one factor
	for _, t := range sums {
		if f := float64(t.own) / float64(max(t.mid, 1)); f-1 > (factor-1)/3 && f-1 < 3*(factor-1) {
			slower += t.own
		}
	}
	share := float64(slower) / float64(max(whole, 1))
	top := list[0]
	t := sums[top.Name]
	c := Cause{What: MoreWork, Factor: factor, OnHost: onHost, Load: j.load(hits, peers, onHost)}
	one := 2*top.NS > excess                                          // one name has most of it
	other := !onHost && 2*alone.own > excess && 2*calls > alone.calls // the rank does what its peers do not: a larger input would be as many calls, if of other kernels
	switch {
	case other:
	case c.Load.explains && kind == Persistent:
		c.What = MoreData
	case c.Load.explains:
		c.What = InputSizes
	case onHost && one && strings.Contains(top.Name, "DataLoader"):
		c.What = DataLoading
	case onHost && one && top.Name != stepName && !asks(top.Name) && t.most*10 >= (t.own-t.mid)*6/int64(max(t.steps, 1)):
		c.What = Pause
	case onHost && share >= 0.5:
		c.What = SlowCPU
	case onHost:
	case !c.Load.Equal() && kind == Alternating && share >= 0.5: // by turns several are: no card is slow in one step and not in the next
		c.What = InputSizes
	case share >= 0.5:
		c.What = SlowGPU
	}
	return c, list[:min(causeNames, len(list))]
}

// nameWork is the time of a name on a rank, and on the peer in the middle.
type nameWork struct{ own, mid, most, calls int64 }

// namesOf compares the names of a member in a step with its peers.
func (j *Gathered) namesOf(member, step int32, host bool, peers []int32) map[string]nameWork {
	out := map[string]nameWork{}
	others := map[string][]int64{}
	n := 0
	for _, p := range peers {
		for name, s := range j.spent(p, step, host) {
			if p == member {
				out[name] = nameWork{own: s.Busy, most: s.Most, calls: int64(s.Calls)}
			} else {
				others[name] = append(others[name], s.Busy)
			}
		}
		if p != member {
			n++
		}
	}
	for name, w := range out {
		v := others[name]
		for len(v) < n { // a peer that does not list the name spends little on it
			v = append(v, 0)
		}
		w.mid = stat.Median(v)
		out[name] = w
	}
	return out
}

// moreCalls is how many more operations a member started on its device in a step than the peer in the middle.
func (j *Gathered) moreCalls(member, step int32, peers []int32) (n int64) {
	var others []int64
	for _, p := range peers {
		calls := int64(0)
		for _, s := range j.spent(p, step, false) {
			calls += int64(s.Calls)
		}
		if p == member {
			n = calls
		} else {
			others = append(others, calls)
		}
	}
	return n - stat.Median(others)
}

// spent is what a member spent in a step by name.
func (j *Gathered) spent(m, number int32, host bool) map[string]Spent {
	out := map[string]Spent{}
	x := &j.Members[m]
	for row := x.row(number); row >= 0 && row < len(x.Steps) && x.Steps[row].Number == number; row++ {
		at, _ := slices.BinarySearchFunc(x.Spent, int32(row), func(s Spent, row int32) int { return cmp.Compare(s.Step, row) })
		for ; at < len(x.Spent) && x.Spent[at].Step == int32(row); at++ {
			if s := x.Spent[at]; s.Host == host {
				out[x.Names[s.Name]] = s
			}
		}
	}
	return out
}
