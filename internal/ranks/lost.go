package ranks

import (
	"slices"
)

// lostWork estimates for each member how long the kernels of a step took that have no record. Where some do not, ranks that did the same seem to
// differ. So each is taken to have called each kernel as often as the peer that recorded most of its calls, at what its own calls take.
func (j *Gathered) lostWork(step int32, peers [][]int32) []int64 {
	out := make([]int64, len(j.Members))
	done := map[*int32]bool{} // by the list of peers, which those of a stage share
	for m := range out {
		list := peers[m]
		if done[&list[0]] {
			continue
		}
		if done[&list[0]] = true; !slices.ContainsFunc(list, j.Lossy) {
			continue
		}
		calls, mean := map[string]int32{}, map[string]int64{}
		all := make([]map[string]Spent, len(list))
		for i, p := range list {
			all[i] = j.spent(p, step, false)
			for name, s := range all[i] {
				if s.Calls > 0 {
					calls[name] = max(calls[name], s.Calls)
					mean[name] = max(mean[name], s.Busy/int64(s.Calls))
				}
			}
		}
		for i, p := range list {
			for name, most := range calls {
				each := mean[name]
				s := all[i][name]
				if s.Calls > 0 {
					each = s.Busy / int64(s.Calls)
				}
				out[p] += int64(most-s.Calls) * each
			}
		}
	}
	return out
}
