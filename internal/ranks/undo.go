package ranks

// undo takes apart the instances that cannot be one collective: of one that nobody leaves before the last one came somebody left earlier than that by more than both clocks may be off.
// A match that is wrong would be charged with waits that nobody had.
func (j *Matched) undo() {
	if j.Clocks.Trusted {
		return
	}
	kept, of := j.Instances[:0], j.Of[:0]
	for i := range j.Instances {
		in := j.Instances[i]
		refs := j.refs(i)
		if !j.possible(&in, refs) {
			j.Matching.Undone++
			j.Matching.Instances--
			j.Matching.By[in.By]--
			j.Matching.Unmatched += int(in.N)
			if in.Missing == 0 {
				j.Matching.Complete--
			}
			continue
		}
		in.First = int32(len(of))
		of = append(of, refs...)
		kept = append(kept, in)
	}
	if len(kept) < len(j.Instances) {
		j.Instances, j.Of = kept, of
		j.enter()
	}
}

// possible reports whether no member left an instance before another came, as far as their clocks tell.
func (j *Matched) possible(in *Instance, refs []Ref) bool {
	if !in.Coll.meets() {
		return true
	}
	first, last := refs[0], refs[0]
	for _, r := range refs {
		s, e := j.times(r)
		m := &j.Members[r.Member]
		if m.Clock.Component != j.Members[refs[0].Member].Clock.Component {
			return true
		}
		if a, _ := j.times(last); s > a {
			last = r
		}
		if _, b := j.times(first); e < b {
			first = r
		}
	}
	came, _ := j.times(last)
	_, left := j.times(first)
	return came-left <= 2*endNoise+j.Members[last.Member].Clock.Error+j.Members[first.Member].Clock.Error
}
