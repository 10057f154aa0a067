package testtrace

import "slices"

// JobWorkKind is what Again may make longer or shorter.
type JobWorkKind uint8

// The kinds.
const (
	OfDevice   JobWorkKind = iota // kernels that do not communicate
	OfThreads                     // what slices of threads do by themselves
	OfTransfer                    // what the bytes of collectives take
	OfLatency                     // what collectives take beside that
)

// Again runs the job once more with other durations, on each rank from the moment on at which its trace begins, also where that was cut, and tells by how much it ends earlier.
func (j *Job) Again(factor func(rank int32, k JobWorkKind) float64) int64 {
	g := &j.graph
	first := make([]int64, len(j.Ranks))
	for _, w := range j.workers {
		first[w.rank] = max(g.at[w.begun], j.Ranks[w.rank].Window[0])
	}
	knobs, at, edges := slices.Clone(g.knobs), make([]int64, len(g.at)), g.edges
	g.edges = slices.Clone(edges)
	for i := range g.edges {
		e := &g.edges[i]
		if e.act < 0 || g.at[e.from] < first[j.acts[e.act].rank] {
			continue
		}
		a, k := &j.acts[e.act], OfThreads
		switch {
		case a.kind == jobKernel && a.inst >= 0:
			k = OfTransfer
		case a.kind == jobKernel:
			k = OfDevice
		}
		f := factor(a.rank, k)
		if k == OfTransfer && f != factor(a.rank, OfLatency) {
			took := float64(g.clean[e.knob])
			latency := min(j.shape.comm*jobLatency/took, 1)
			f = f*(1-latency) + factor(a.rank, OfLatency)*latency
		}
		if e.knob >= 0 {
			knobs[e.knob] = int64(float64(g.knobs[e.knob]) * f)
		}
		e.add = int64(float64(e.add) * f)
	}
	g.times(knobs, at, nil)
	g.edges = edges
	end := int64(0)
	for _, p := range j.gauges() {
		end = max(end, at[p])
	}
	return j.End - end
}
