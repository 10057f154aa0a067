package ranks

import (
	"math"
	"slices"
)

// How far off a clock may be: so many standard deviations of what noise does to the fit, and unevenEnds for what no noise explains, as the order in
// which a ring of ranks is left.
const (
	deviations = 3.5
	likely     = 2    // from so many on a drift is believed
	unevenEnds = 1500 // ns
)

// tie says what a node observed in a group, or of transfers with one other rank: sums of weights, and of weights by time squared.
type tie struct {
	node, hub   int32
	offset, lay float64
}

// faults are by how much offset and drift of each node may differ from the truth against the reference of its component, as variances
// for observations of unit noise. Observations of a node place it beside the other nodes of the same groups alone. So the error grows along the way
// over groups to the reference, and all ways together are at least as good as the best one. It is 0 for nodes
// without a way to a reference.
func (o *observations) faults(j *Matched, references []int32) (offset, drift []float64) {
	ties, hubs := o.ties(j)
	return o.along(ties, hubs, references, func(t *tie) float64 { return 1 / t.offset }),
		o.along(ties, hubs, references, func(t *tie) float64 { return 1 / t.lay })
}

// ties sums up the observations by node and group.
func (o *observations) ties(j *Matched) (list []tie, hubs int32) {
	type key struct{ hub, low, high int32 }
	pairs := map[key]int32{} // transfers between two ranks of a group tie only these
	at := map[[2]int32]int32{}
	last, group := int32(-1), int32(-1)
	for c := range o.cases {
		in := &j.Instances[o.cases[c]]
		lo, hi := o.first[c], o.first[c+1]
		hub := last
		switch {
		case in.Coll == SendRecv && hi-lo == 2:
			k := key{in.Group, o.node[lo], o.node[lo+1]}
			h, ok := pairs[k]
			if !ok {
				h = hubs
				hubs++
				pairs[k] = h
			}
			hub = h
		case in.Group != group:
			group, last = in.Group, hubs
			hub = hubs
			hubs++
		}
		for i := lo; i < hi; i++ {
			k, ok := at[[2]int32{o.node[i], hub}]
			if !ok {
				k = int32(len(list))
				at[[2]int32{o.node[i], hub}] = k
				list = append(list, tie{node: o.node[i], hub: hub})
			}
			w, tau := float64(o.w[i]), o.tau(i)
			list[k].offset += w
			list[k].lay += w * tau * tau
		}
	}
	return list, hubs
}

// along is the length of the shortest way from a reference to each node, over ties as long as length says.
func (o *observations) along(ties []tie, hubs int32, references []int32, length func(*tie) float64) []float64 {
	far, via := slices.Repeat([]float64{math.Inf(1)}, len(o.x)), slices.Repeat([]float64{math.Inf(1)}, int(hubs))
	for _, r := range references {
		far[r] = 0
	}
	for shorter := true; shorter; {
		shorter = false
		for i := range ties {
			node, hub, d := &far[ties[i].node], &via[ties[i].hub], length(&ties[i])
			if *node+d < *hub {
				*hub, shorter = *node+d, true
			}
			if *hub+d < *node {
				*node, shorter = *hub+d, true
			}
		}
	}
	for i := range far {
		if math.IsInf(far[i], 1) {
			far[i] = 0
		}
	}
	return far
}
