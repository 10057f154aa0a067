package cdg

import "sort"

// queueLength is how many operations a stream holds before a launch blocks (about 1,024 on NVIDIA hardware).
const queueLength = 1000

// queueFull finds launches that were held up because their stream's queue was full (rule 6): they last much longer
// than most, and return when an operation of the stream ends.
func (b *builder) queueFull() {
	d := b.d
	for l := range d.Lanes {
		order := b.order[l]
		if len(order) <= queueLength {
			continue
		}
		ends := make([]ActID, 0, len(order))
		for _, a := range b.byEnd {
			if d.Acts[a].Lane == LaneID(l) {
				ends = append(ends, a)
			}
		}
		median := b.medianLaunch(order)
		for i, k := range order {
			call := &d.Acts[b.launch[k]]
			if call.End-call.Start < max(5*median, 10*us) {
				continue
			}
			endedBy := func(t int64) int {
				return sort.Search(len(ends), func(j int) bool { return d.Acts[ends[j]].End > t })
			}
			if i-endedBy(call.Start) < queueLength {
				continue
			}
			if n := endedBy(call.End); n > 0 && d.Acts[ends[n-1]].End > call.Start {
				b.add(b.launch[k], ends[n-1], QueueFull, ByAPI)
			}
		}
	}
}

func (b *builder) medianLaunch(order []ActID) int64 {
	durs := make([]int64, len(order))
	for i, k := range order {
		c := &b.d.Acts[b.launch[k]]
		durs[i] = c.End - c.Start
	}
	sortInt64(durs)
	return quantile(durs, 0.5)
}
