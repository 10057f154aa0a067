package ranks

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// How far off a clock may be: so many standard deviations of what noise does to the fit, and unevenEnds for what no noise explains, as the order in
// which a ring of ranks is left.
const (
	deviations = 3
	likely     = 2    // from so many on a drift is believed
	unevenEnds = 2000 // ns
)

// tie says what a node observed in a group, or of transfers with one other rank: sums of weights, and of weights by time squared.
type tie struct {
	node, hub   int32
	offset, lay float64
}

// faults are by how much offset and drift of each node may differ from the truth against the reference of its component, as variances
// for observations of unit noise. What a node observes says only how it lies to those that observe it too; so what counts is the way
// over groups to the reference, and all ways together are at least as good as the best one. Of nodes
// that are not connected to a reference they are 0.
func (o *observations) faults(j *Job, references []int32) (offset, drift []float64) {
	ties, hubs := o.ties(j)
	return o.along(ties, hubs, references, func(t *tie) float64 { return 1 / t.offset }),
		o.along(ties, hubs, references, func(t *tie) float64 { return 1 / t.lay })
}

// ties sums up the observations by node and group.
func (o *observations) ties(j *Job) (list []tie, hubs int32) {
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
	n := int32(len(o.x))
	first := make([]int32, n+hubs+1) // CSR over nodes, then hubs
	for i := range ties {
		first[ties[i].node+1]++
		first[n+ties[i].hub+1]++
	}
	for i := range n + hubs {
		first[i+1] += first[i]
	}
	next := make([]int32, 2*len(ties))
	fill := slices.Clone(first)
	for i := range ties {
		for _, v := range [...]int32{ties[i].node, n + ties[i].hub} {
			next[fill[v]] = int32(i)
			fill[v]++
		}
	}
	far := slices.Repeat([]float64{math.Inf(1)}, int(n+hubs))
	queue := &ways{}
	for _, r := range references {
		far[r] = 0
		heap.Push(queue, way{r, 0})
	}
	for queue.Len() > 0 {
		w := heap.Pop(queue).(way)
		if w.far > far[w.at] {
			continue
		}
		for _, i := range next[first[w.at]:first[w.at+1]] {
			to := n + ties[i].hub
			if w.at >= n {
				to = ties[i].node
			}
			if d := w.far + length(&ties[i]); d < far[to] {
				far[to] = d
				heap.Push(queue, way{to, d})
			}
		}
	}
	for i := range far {
		if math.IsInf(far[i], 1) {
			far[i] = 0
		}
	}
	return far[:n]
}

// ways are ends of ways, the nearest first.
type way struct {
	at  int32
	far float64
}

type ways []way

func (w ways) Len() int { return len(w) }
func (w ways) Less(a, b int) bool {
	return cmp.Or(cmp.Compare(w[a].far, w[b].far), cmp.Compare(w[a].at, w[b].at)) < 0
}
func (w ways) Swap(a, b int) { w[a], w[b] = w[b], w[a] }
func (w *ways) Push(x any)   { *w = append(*w, x.(way)) }
func (w *ways) Pop() any {
	x := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return x
}
