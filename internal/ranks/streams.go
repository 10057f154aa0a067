package ranks

import (
	"slices"
)

// groupsByTimes makes groups of those who met where nothing is known of them but the stream: before PyTorch 2.3 no trace names groups, and those of one size have a
// stream of one number on all ranks.
func (j *Matched) groupsByTimes() {
	for g := range j.Groups {
		if j.Groups[g].By != "stream" {
			continue
		}
		met := newSets(len(j.Members))
		size := slices.Repeat([]int{1}, len(j.Members)) // by the root of a set
		for i := range j.Instances {
			if refs := j.refs(i); int(j.Instances[i].Group) == g {
				for _, r := range refs[1:] {
					a, b := met.find(refs[0].Member), met.find(r.Member)
					if met.join(a, b) {
						size[min(a, b)] += size[max(a, b)]
					}
				}
			}
		}
		j.splitGroup(int32(g), met, size)
	}
	slices.SortStableFunc(j.Instances, func(a, b Instance) int { return int(a.Group - b.Group) })
}

// splitGroup gives each set of members that met a group of its own, the first one that of all.
func (j *Matched) splitGroup(g int32, met *sets, size []int) {
	old, of := j.Groups[g], slices.Repeat([]int32{-1}, len(j.Members)) // by the root of a set: its group
	for m := range j.Members {
		root := met.find(int32(m))
		at := slices.Index(j.Members[m].group, g)
		if size[root] < 2 || at < 0 {
			continue
		}
		if of[root] < 0 {
			of[root] = g
			if j.Groups[g].By == "times" {
				of[root] = int32(len(j.Groups))
				j.Groups = append(j.Groups, JobGroup{})
			}
			j.Groups[of[root]] = JobGroup{Name: old.Name, By: "times", Size: size[root]}
		}
		x := &j.Groups[of[root]]
		j.Members[m].group[at] = of[root]
		x.Ranks = append(x.Ranks, j.Members[m].Rank)
		for i := range j.Members[m].Ops {
			if int(j.Members[m].Kinds[j.Members[m].Ops[i].Kind].Group) == at {
				x.Ops++
			}
		}
	}
	for i := range j.Instances {
		in := &j.Instances[i]
		if in.Group != g {
			continue
		}
		root := met.find(j.refs(i)[0].Member)
		complete := in.Missing == 0
		if in.Group, in.Missing = of[root], int32(size[root])-in.N; in.Missing == 0 && !complete {
			j.Matching.Complete++
		}
	}
}
