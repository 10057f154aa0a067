package ranks

import (
	"math"
	"slices"

	"overlay/internal/critpath"
)

// gain is by how much the job ends earlier, at most, when some stragglers have no more work than their peers; where inputs are uneven, or somebody is given more, when each rank
// has the mean of its peers in each step; of a stage, when it has as much as the others. What ran before its trace begins is taken to be slow as the rest, if all of that is
// by one factor.
func (j *judge) gain(list []Straggler) int64 {
	of := make([][]*cuts, len(j.Members))
	for i := range list {
		s := &list[i]
		if s.Cause.What == InputSizes || s.Cause.What == MoreData {
			for m, c := range j.evenly(s, j.peers) {
				if s.Kind != Persistent || slices.Contains(s.Members, int32(m)) {
					of[m] = append(of[m], c)
				}
			}
			continue
		}
		for _, m := range s.Members {
			of[m] = append(of[m], j.cuts(s, m, j.peers[m]))
		}
	}
	return j.cut(of)
}

// Without is by how much the job ends earlier, at most, when what a straggler has more than its peers is gone, and nobody else has to do it.
func (j *Job) Without(s *Straggler) int64 {
	peers, _ := j.peers()
	of := make([][]*cuts, len(j.Members))
	for _, m := range s.Members {
		of[m] = []*cuts{j.cuts(s, m, peers[m])}
	}
	return j.cut(of)
}

// cut is by how much the job ends earlier without what is cut of its members.
func (j *Job) cut(of [][]*cuts) int64 {
	return j.Sooner(func(member int32, r *Run, from, to int64) (less int64) {
		for _, c := range of[member] {
			less += c.of(&j.Members[member], r, from, to)
		}
		return min(less, to-from)
	}, nil)
}

// cuts say which share of the runs of a member is beyond the work of its peers.
type cuts struct {
	host  bool      // of threads, else of the device
	span  [2]int64  // local times between which they hold
	steps []stepCut // by time
	all   cut       // beside those steps
	early float64   // of what ran before the trace begins
}

// stepCut is what goes between two local times.
type stepCut struct {
	from, to int64
	cut
}

// cut is the share by name, and that of names that are not in it.
type cut struct {
	names map[string]float64
	other float64
}

// of is what goes of a run between two local times.
func (c *cuts) of(x *Member, r *Run, from, to int64) int64 {
	if from, to = max(from, c.span[0]), min(to, c.span[1]); from >= to {
		return 0
	}
	class := r.Kind.Class()
	switch device := class == critpath.ClassCompute || class == critpath.ClassCopy; {
	case r.Kind == critpath.Unrecorded:
		return int64(c.early * float64(to-from))
	case device && c.host, !device && (class != critpath.ClassCPU || !c.host):
		return 0
	}
	sum, left := 0.0, to-from
	for i := range c.steps {
		if st := &c.steps[i]; st.from < to && from < st.to {
			n := min(to, st.to) - max(from, st.from)
			sum += st.of(x, r) * float64(n)
			left -= n
		}
	}
	return int64(sum + c.all.of(x, r)*float64(left))
}

func (c *cut) of(x *Member, r *Run) float64 {
	if share, ok := c.names[x.Names[r.Name]]; ok {
		return share
	}
	return c.other
}

// cuts are those of one member of a straggler: where all its work takes longer by one factor, of all of it. Else it is what names take longer than on the
// peers, of threads in each step for itself. Who is persistently slow is so beside those steps, too.
func (j *Job) cuts(s *Straggler, member int32, peers []int32) *cuts {
	c := &cuts{host: s.Cause.OnHost, span: j.Members[member].span(s)}
	if s.Cause.What == SlowGPU || s.Cause.What == SlowCPU || s.Unit == "stage" {
		c.all.other = 1 - 1/max(s.Cause.Factor, 1)
		c.early = c.all.other
		return c
	}
	sums := map[string]nameWork{}
	x := &j.Members[member]
	for i, n := range s.Steps {
		if s.Kind != Persistent && s.Who[i] != member {
			continue
		}
		step := j.namesOf(member, n, c.host, peers)
		for name, w := range step {
			sum := sums[name]
			sums[name] = nameWork{own: sum.own + w.own, mid: sum.mid + min(w.mid, w.own)}
		}
		if at := slices.IndexFunc(x.Steps, func(st Step) bool { return st.Number == n }); at >= 0 && (c.host || s.Kind != Persistent) {
			c.steps = append(c.steps, stepCut{x.Steps[at].Start, x.Steps[at].End, cutOf(step, &s.Cause)})
		}
	}
	if s.Kind == Persistent {
		c.all = cutOf(sums, &s.Cause)
	}
	return c
}

// cutOf is what names take longer. Of frames inside of a data loader runs have the names, and lists that of the loader.
func cutOf(names map[string]nameWork, cause *Cause) cut {
	c := cut{names: map[string]float64{}}
	for name, w := range names {
		if w.own > 0 {
			c.names[name] = float64(max(w.own-w.mid, 0)) / float64(w.own)
		}
	}
	if cause.What == DataLoading {
		c.other = c.names[cause.Name]
	}
	return c
}

// span is from when to when a straggler hits, by the clock of a member. What the device does is behind its threads: a step is taken to end with the last operation that it launched.
func (m *Member) span(s *Straggler) [2]int64 {
	span := [2]int64{math.MinInt64, math.MaxInt64}
	last := s.Until
	end := func(until int32) (at int64) {
		at = math.MinInt64
		for i := range m.Steps {
			if m.Steps[i].Number <= until {
				at = max(at, m.Steps[i].End)
			}
		}
		for i := range m.Ops {
			if o := &m.Ops[i]; !s.Cause.OnHost && o.Step >= 0 && o.Step <= until {
				at = max(at, o.End)
			}
		}
		return at
	}
	if s.From >= 0 {
		span[0] = end(s.From - 1)
	}
	if last >= 0 {
		span[1] = end(last)
	}
	return span
}

// evenly is what members have on the device, or on threads, in each step in which a straggler hits beyond the mean of their peers. What the device does is behind its threads: a step is
// taken to end with the last operation that it launched.
func (j *Job) evenly(s *Straggler, peers [][]int32) []*cuts {
	host := s.Cause.OnHost
	busy := func(st *Step) float64 {
		if host {
			return float64(st.BusyHost)
		}
		return float64(st.BusyGPU)
	}
	means := map[*int32]map[int32]float64{} // by the list of peers, which those of a stage share, and step
	list := make([]*cuts, len(j.Members))
	for m := range list {
		x, c := &j.Members[m], &cuts{host: host, span: j.Members[m].span(s)}
		mean := means[&peers[m][0]]
		if mean == nil {
			mean = map[int32]float64{}
			for _, p := range peers[m] {
				for i := range j.Members[p].Steps {
					st := &j.Members[p].Steps[i]
					mean[st.Number] += busy(st) / float64(len(peers[m]))
				}
			}
			means[&peers[m][0]] = mean
		}
		ends := map[int32]int64{}
		for i := range x.Ops {
			ends[x.Ops[i].Step] = max(ends[x.Ops[i].Step], x.Ops[i].End)
		}
		for i := range x.Steps {
			st := &x.Steps[i]
			from, to := st.Start, st.End
			if end, ok := ends[st.Number]; ok && end > st.Start {
				to = end
			}
			if i > 0 {
				from = c.steps[i-1].to
				to = max(to, from)
			}
			c.steps = append(c.steps, stepCut{from, to, cut{other: max(0, 1-mean[st.Number]/max(busy(st), 1))}})
		}
		list[m] = c
	}
	return list
}
