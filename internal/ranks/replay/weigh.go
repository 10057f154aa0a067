package replay

import (
	"slices"

	"overlay/internal/critpath"
	"overlay/internal/ranks"
)

// Judge says what is wrong with a job and what that costs. Where nothing says what collectives followed from, a straggler costs at most what it works beyond its peers, as far
// as the path of the job leads over it.
func Judge(j *ranks.Job, expected ranks.Expected) *ranks.Verdict {
	v := ranks.Judge(j, expected)
	if len(v.Stragglers) == 0 {
		return v
	}
	m, err := New(j)
	if err != nil {
		list := v.Stragglers
		for i := range list {
			list[i].Bound = true
		}
		v.Weigh(j, func(sets [][]int) (gains []int64) {
			for _, set := range sets {
				sum := int64(0)
				for _, i := range set {
					sum += bound(j, &list[i])
				}
				gains = append(gains, sum)
			}
			return gains
		})
		return v
	}
	w := &weigher{job: j, median: j.Excesses()}
	var of [][]ranks.Excess
	for i := range v.Stragglers {
		s := &v.Stragglers[i]
		if of = append(of, w.excess(s)); s.Reason().Even {
			s.Spared = m.Ask([]Question{AtMedian(w.spared(s))(every)})[0].Saved
		}
	}
	v.Weigh(j, func(sets [][]int) (gains []int64) {
		var ask []Question
		for _, set := range sets {
			var all []ranks.Excess
			for _, i := range set {
				all = append(all, of[i]...)
			}
			ask = append(ask, AtMedian(all)(every))
		}
		for _, a := range m.Ask(ask) {
			gains = append(gains, a.Saved)
		}
		return gains
	})
	return v
}

func every(int) bool { return true }

// bound is what a straggler costs at most.
func bound(j *ranks.Job, s *ranks.Straggler) int64 {
	path := int64(0)
	for k := range j.Path {
		if x := &j.Path[k]; slices.Contains(s.Members, x.Member) && x.Kind != critpath.Comm && x.Kind != critpath.MissingRank {
			path += x.End - x.Start
		}
	}
	return min(s.Excess, path)
}

// weigher finds what stragglers have more.
type weigher struct {
	job    *ranks.Job
	median []ranks.Excess
}

// excess is what a straggler has more than its peers. A stage is compared with the others. What somebody else has to do is dealt out evenly.
func (w *weigher) excess(s *ranks.Straggler) []ranks.Excess {
	switch {
	case s.Unit == "stage":
		return slices.DeleteFunc(w.job.OverStages(), func(e ranks.Excess) bool { return !slices.Contains(s.Members, e.Member) })
	case !s.Reason().Even:
		return w.spared(s)
	case s.Kind != ranks.Persistent: // by turns everybody has
		return w.job.OverMean(s.Cause.OnHost)
	}
	return slices.DeleteFunc(w.job.OverMean(s.Cause.OnHost), func(e ranks.Excess) bool { return !s.Hits(e.Member, e.Step) })
}

// spared is what a straggler has more than the median of its peers, where its cause is: what little more it has on the other side, or only seems to in steps that are not whole,
// its repair leaves as it is. One that is slow by turns, or once, has it on both sides.
func (w *weigher) spared(s *ranks.Straggler) []ranks.Excess {
	return slices.DeleteFunc(slices.Clone(w.median), func(e ranks.Excess) bool {
		return !s.Hits(e.Member, e.Step) || s.Kind == ranks.Persistent && e.Host != s.Cause.OnHost
	})
}
