package ranks

import (
	"slices"

	"overlay/internal/stat"
)

// load compares what members were given in some steps. The weight of an operator is its time on the median peer. Longer times
// count as load up to the ratio by which the operator was given more. Peers that count different things are not compared.
func (j *Gathered) load(hits []strike, peers [][]int32, host bool) Load {
	type sum struct {
		mid, expected, explained float64
		times                    float64
		unit                     Unit
		n                        int
	}
	sums := map[string]*sum{}
	more, busy := int64(0), int64(0)
	for _, x := range hits {
		side := x.step.more[b2i(host)]
		more += side[x.member]
		busy += j.peerWork(x, peers, host)
		own, others := j.given(x.member, x.step.Number, host), map[string][]Given{}
		n := 0
		for _, p := range peers[x.member] {
			if p == x.member {
				continue
			}
			n++
			for name, g := range j.given(p, x.step.Number, host) {
				if o, ok := own[name]; ok && o.Unit == g.Unit {
					others[name] = append(others[name], g)
				}
			}
		}
		for name, list := range others {
			if 2*len(list) <= n {
				continue
			}
			o, mid := own[name], middle(list)
			s := sums[name]
			if s == nil {
				s = &sum{unit: o.Unit}
				sums[name] = s
			}
			times := float64(o.Amount) / float64(mid.Amount)
			expected := times * float64(mid.Busy)
			s.mid += float64(mid.Busy)
			s.expected += expected
			s.explained += min(expected-float64(mid.Busy), float64(max(o.Busy-mid.Busy, 0)))
			s.times += times
			s.n++
		}
	}
	var all sum
	l, most, shapes := Load{}, 0.0, 0.0
	for _, name := range slices.Sorted(keys(sums)) {
		s := sums[name]
		all.mid += s.mid
		all.expected += s.expected
		all.explained += s.explained
		if s.unit != Threads {
			shapes += s.mid
		}
		if s.explained > most {
			most = s.explained
			l.Name, l.Most, l.Unit = name, s.times/float64(s.n), s.unit
		}
	}
	l.explains = all.explained > 0 && all.explained >= toldShare*float64(more)
	if l.explains || all.mid >= toldShare*float64(busy) && all.mid > 0 {
		l.Times, l.Shapes = all.expected/all.mid, 2*shapes >= all.mid
	}
	return l
}

// peerWork is what the peer in the middle worked in a step.
func (j *Gathered) peerWork(x strike, peers [][]int32, host bool) int64 {
	var v []int64
	for _, p := range peers[x.member] {
		if p != x.member {
			w := j.work(p, x.step.Number)
			if host {
				v = append(v, w.busyHost)
			} else {
				v = append(v, w.busyGPU)
			}
		}
	}
	return stat.Median(v)
}

// middle is what the peer in the middle was given of an operator, and how long that takes there.
func middle(list []Given) Given {
	var amounts, times []int64
	for _, g := range list {
		amounts, times = append(amounts, g.Amount), append(times, g.Busy)
	}
	return Given{Amount: max(stat.Median(amounts), 1), Busy: stat.Median(times)}
}

// given is what the operators of a member were given in a step: of threads, or of the device.
func (j *Gathered) given(m, number int32, host bool) map[string]Given {
	x := &j.Members[m]
	if host == x.device() {
		return nil
	}
	out := map[string]Given{}
	for _, g := range x.Given {
		if x.Steps[g.Step].Number == number {
			out[x.Names[g.Name]] = g
		}
	}
	return out
}
