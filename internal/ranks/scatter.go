package ranks

import (
	"math"
	"slices"
)

// What is expected of how ends scatter counts for as much as believed residuals. Ends scatter at most by wildest times of that: what is more are
// jumps and wrong matches, and would hide itself. Of many residuals, about enough are looked at.
const (
	believed = 4
	wildest  = 4
	enough   = 1 << 13
)

// learnScatter fits o.scatter to each kind of collective of each group by how much its ends scatter about the present solution. What is expected of them
// goes by how long they take; and where nobody knows who came last, or links differ, that tells little of how well their ends agree.
func (o *observations) learnScatter(j *Job) {
	of := map[uint64][]float64{}  // by kind: residuals of a group, as those of many members
	prior := map[uint64]float64{} // sum of their variances, as expected
	tokens := make([]uint64, len(o.cases))
	for lo := 0; lo < len(o.cases); {
		clear(prior)
		for t := range of {
			of[t] = of[t][:0]
		}
		group := j.Instances[o.cases[lo]].Group
		hi := lo
		for hi < len(o.cases) && j.Instances[o.cases[hi]].Group == group {
			hi++
		}
		every := (o.first[hi]-o.first[lo])/enough + 1
		for hi = lo; hi < len(o.cases) && j.Instances[o.cases[hi]].Group == group; hi++ {
			in := &j.Instances[o.cases[hi]]
			t := j.Members[j.Of[in.First].Member].Kinds[in.Kind].Token
			tokens[hi] = t
			mean, n := o.mean(hi), float64(o.first[hi+1]-o.first[hi])
			for i := o.first[hi] + int32(hi)%every; i < o.first[hi+1]; i += every {
				of[t] = append(of[t], math.Abs(o.global(i)-mean)*math.Sqrt(n/(n-1)))
				prior[t] += sq(o.sigma[hi])
			}
		}
		learned := map[uint64]float64{}
		for t, list := range of {
			if n := float64(len(list)); n > 0 {
				slices.Sort(list)
				found := math.Min(1.48*list[len(list)/2], wildest*math.Sqrt(prior[t]/n))
				learned[t] = math.Sqrt((believed*prior[t]/n + n*sq(found)) / (believed + n))
			}
		}
		for ; lo < hi; lo++ {
			if scatter, ok := learned[tokens[lo]]; ok {
				o.scatter[lo] = scatter
			}
		}
	}
}
