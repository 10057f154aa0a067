package ranks

import "math"

// boundPasses bounds the passes over all instances: bounds get closer with each rank on the way to the reference, and contradict
// each other where an operation was matched wrongly.
const boundPasses = 16

// boundClocks finds between which offsets of its first piece causality alone holds each rank: nobody leaves a collective
// before the last one came, so of two ranks the one's end is not before the other's start. It needs no assumption about noise,
// and is only a check: what is solved has to lie inside. Times count from the windows of the ranks.
func (j *Job) boundClocks() {
	const open = math.MaxInt64 / 4
	lo, hi := make([]int64, len(j.Members)), make([]int64, len(j.Members))
	reference := map[int32]int{}
	for m := range j.Members {
		lo[m], hi[m] = -open, open
		if c := j.Members[m].Clock.Component; j.Members[m].Clock.Observations > 0 {
			if _, ok := reference[c]; !ok {
				reference[c] = m
				lo[m], hi[m] = 0, 0
			}
		}
	}
	for range boundPasses {
		changed := false
		for i := range j.Instances {
			if in := &j.Instances[i]; !in.Coll.meets() {
				continue
			}
			refs := j.refs(i)
			low, high := int64(-open), int64(open) // of an offset less an end, and less a start
			for _, r := range refs {
				s, e := j.localTimes(r)
				low, high = max(low, lo[r.Member]-e), min(high, hi[r.Member]-s)
			}
			for _, r := range refs {
				s, e := j.localTimes(r)
				if l := low + s; low > -open/2 && l > lo[r.Member] && lo[r.Member] < hi[r.Member] {
					lo[r.Member], changed = l, true
				}
				if h := high + e; high < open/2 && h < hi[r.Member] && lo[r.Member] < hi[r.Member] {
					hi[r.Member], changed = h, true
				}
			}
		}
		if !changed {
			break
		}
	}
	for m := range j.Members {
		c := &j.Members[m].Clock
		ref, ok := reference[c.Component]
		if ok && lo[m] > -open/2 && hi[m] < open/2 {
			apart := j.Members[m].Window[0] - j.Members[ref].Window[0]
			c.Lo, c.Hi = apart+lo[m], apart+hi[m]
		}
	}
}

// localTimes are start and end of an operation, counted from the window of its rank.
func (j *Job) localTimes(r Ref) (start, end int64) {
	m := &j.Members[r.Member]
	return m.Ops[r.Op].Start - m.Window[0], m.Ops[r.Op].End - m.Window[0]
}
