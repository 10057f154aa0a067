package analyses

import (
	"cmp"
	"iter"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// StepComponent splits the time of one step by which components work: the host, computation (copies too), and
// communication. Overlap, the three alone, and free time sum to the step. The split is that of the Hermes paper.
type StepComponent struct {
	Step          string  `json:"step" key:"yes"`
	Start         int64   `json:"start_ns" unit:"time"`
	Duration      int64   `json:"duration_ns" unit:"ns"`
	Overlap       int64   `json:"overlap_ns" unit:"ns" about:"at least two at once"`
	Computation   int64   `json:"computation_only_ns" unit:"ns"`
	Communication int64   `json:"communication_only_ns" unit:"ns"`
	Host          int64   `json:"host_only_ns" unit:"ns"`
	Free          int64   `json:"free_ns" unit:"ns"`
	Ratio         float64 `json:"overlap_ratio" unit:"share" about:"overlap over step"`
	HostComp      float64 `json:"overlap_ratio_host_computation" unit:"share"`
	HostComm      float64 `json:"overlap_ratio_host_communication" unit:"share"`
	CompComm      float64 `json:"overlap_ratio_computation_communication" unit:"share"`
	Low           bool    `json:"low" about:"the ratio is below the threshold"`

	Operators []Exposed `json:"operators" about:"names with critical time outside the overlap, most first"`
}

// Exposed is an operator with critical time while nothing else worked.
type Exposed struct {
	Name     string `json:"name"`
	Critical int64  `json:"critical_ns" unit:"ns"`
}

// components makes one line a step; without steps, one for the window.
func components(s *Set, o Options) []StepComponent {
	o = o.withDefaults()
	steps := s.Steps
	if len(steps) == 0 {
		steps = []cdg.Step{{Name: "window", Event: trace.NoEvent, Start: s.Start, End: s.End}}
	}
	comp := s.merged(1<<Computation | 1<<Memory | 1<<OtherType)
	comm := s.merged(1 << CommunicationType)
	host := s.hostWork()
	var after segmentsAfter
	if s.path != nil {
		after = s.path.Segments.After()
	}
	var out []StepComponent
	for _, st := range steps {
		from, to := max(st.Start, s.Start), min(st.End, s.End)
		if from >= to {
			continue
		}
		c := StepComponent{Step: st.Name, Start: from, Duration: to - from, Operators: []Exposed{}}
		h, p, m := clip(host, from, to), clip(comp, from, to), clip(comm, from, to)
		hp, hm, pm := intersect(h, p), intersect(h, m), intersect(p, m)
		both := mergeAll(hp, hm, pm)
		c.Overlap = length(both)
		c.Host, c.Computation, c.Communication = length(subtract(h, both)), length(subtract(p, both)), length(subtract(m, both))
		c.Free = c.Duration - c.Overlap - c.Host - c.Computation - c.Communication
		c.Ratio = ratio(c.Overlap, c.Duration)
		c.HostComp, c.HostComm, c.CompComm = ratio(length(hp), c.Duration), ratio(length(hm), c.Duration), ratio(length(pm), c.Duration)
		c.Low = c.Ratio < o.OverlapBelow
		if after != nil {
			s.exposed(&c, after, subtract([]Interval{{from, to}}, both), o)
		}
		out = append(out, c)
	}
	return out
}

// merged is the union of operations of all devices.
func (s *Set) merged(types int) []Interval {
	var parts [][]Interval
	s.devices(func(_ int64, ops []Op) { parts = append(parts, ofTypes(ops, types)) })
	return mergeAll(parts...)
}

func mergeAll(parts ...[]Interval) []Interval {
	all := slices.Concat(parts...)
	slices.SortFunc(all, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	return union(len(all), func(i int) (Interval, bool) { return all[i], true })
}

func clip(v []Interval, from, to int64) []Interval {
	i, _ := slices.BinarySearchFunc(v, from, func(v Interval, t int64) int { return cmp.Compare(v.End, t) })
	var out []Interval
	for ; i < len(v) && v[i].Start < to; i++ {
		if c := (Interval{max(v[i].Start, from), min(v[i].End, to)}); c.Start < c.End {
			out = append(out, c)
		}
	}
	return out
}

// hostWork is when a thread that launches, or takes turns with one that does, works: an operator or a call is open, and no blocking call waits.
func (s *Set) hostWork() []Interval {
	d := s.graph
	var all []Interval
	for l := range d.Lanes {
		lane := &d.Lanes[l]
		launches := func(p cdg.LaneID) bool { return d.Launches(p) > 0 }
		if lane.Stream || !launches(cdg.LaneID(l)) && !slices.ContainsFunc(d.Partners[l], launches) {
			continue
		}
		busy := union(int(lane.Limit-lane.First), func(i int) (Interval, bool) {
			a := lane.First + cdg.ActID(i)
			return Interval{d.Acts[a].Start, d.Acts[a].End}, !d.Marker(a)
		})
		waits := union(int(lane.Limit-lane.First), func(i int) (Interval, bool) { return s.waitOf(lane.First + cdg.ActID(i)) })
		all = append(all, subtract(busy, waits)...)
	}
	return mergeAll(all)
}

// waitOf is the stretch of a blocking call in which it waited for an operation.
func (s *Set) waitOf(a cdg.ActID) (Interval, bool) {
	d := s.graph
	act := &d.Acts[a]
	end := int64(-1)
	for _, dep := range d.Sources(a) {
		if dep.Rule == cdg.Sync || dep.Rule == cdg.QueueFull {
			end = max(end, d.Acts[dep.From].End)
		}
	}
	if end <= act.Start {
		return Interval{}, false
	}
	return Interval{act.Start, min(end, act.End)}, true
}

// segmentsAfter visits the segments of the path that end after a time.
type segmentsAfter = func(at int64) iter.Seq2[int, *critpath.Segment]

// exposed ranks what the path spent outside the overlap, by name.
func (s *Set) exposed(c *StepComponent, after segmentsAfter, alone []Interval, o Options) {
	sum := map[trace.Sym]int64{}
	i := 0
	for _, seg := range after(c.Start) {
		if seg.Start >= c.Start+c.Duration {
			break
		}
		if seg.Event == trace.NoEvent {
			continue
		}
		for i < len(alone) && alone[i].End <= seg.Start {
			i++
		}
		for j := i; j < len(alone) && alone[j].Start < seg.End; j++ {
			if d := min(seg.End, alone[j].End) - max(seg.Start, alone[j].Start); d > 0 {
				sum[s.Trace.Events[seg.Event].Name] += d
			}
		}
	}
	for name, ns := range sum {
		c.Operators = append(c.Operators, Exposed{s.Trace.Str(name), ns})
	}
	slices.SortFunc(c.Operators, func(a, b Exposed) int {
		return cmp.Or(cmp.Compare(b.Critical, a.Critical), cmp.Compare(a.Name, b.Name))
	})
	c.Operators = head(c.Operators, o.Top)
}
