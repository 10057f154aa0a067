package critpath

import (
	"cmp"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/graph"
	"overlay/internal/par"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// nearCalls is how many slices before a launch are looked at for what its operation may have waited for.
const nearCalls = 256

// Earlier is how long a path is, between two times, in work that was launched before recording began: whatever is changed, that stays.
func Earlier(g *graph.Graph, p *Path, from, to int64) (ns int64) {
	for _, s := range p.Segments.After()(from) {
		if s.Start >= to {
			break
		}
		if s.Kind != GPUUnrecorded {
			continue
		}
		for l := range g.Lanes {
			if lane := &g.Lanes[l]; lane.Stream && lane.Track == s.Track {
				i, there := slices.BinarySearchFunc(g.Acts[lane.First:lane.Limit], s.End, func(a cdg.Act, at int64) int { return cmp.Compare(a.Start, at) })
				if w := g.Release(lane.First + cdg.ActID(i)); there && w.From == cdg.NoAct && w.Note != cdg.RecordsLost {
					ns += max(min(s.End, to)-max(s.Start, from), 0)
				}
			}
		}
	}
	return ns
}

// ofOperation reads why an operation started late.
func (r *reasoner) ofOperation(s *Segment, before, k cdg.ActID) Reason {
	g, wait := r.g, r.g.Release(k)
	if s.Kind == GPUUnrecorded {
		switch {
		case wait.Note == cdg.RecordsLost:
			return GraphLost
		case wait.From == cdg.NoAct:
			return QueuedBefore
		}
		return RecordsLost
	}
	if r.otherDevice(s) {
		return OtherDevice
	}
	call := cdg.NoAct
	for _, w := range g.Sources(k) {
		if w.Rule == cdg.Launch && w.Evidence == cdg.ByCorrelation {
			call = w.From
		}
	}
	switch {
	case !slices.ContainsFunc(g.Lanes, func(l cdg.Lane) bool { return !l.Stream }):
		return HostNotRecorded
	case call == cdg.NoAct:
		return LaunchNotRecorded
	case before != cdg.NoAct && g.Acts[call].Start < g.Acts[before].End && r.deviceIdle(s, g.Acts[k].Lane):
		return DeviceStoodStill
	}
	since := int64(-1 << 62)
	if before != cdg.NoAct {
		for _, w := range g.Sources(before) {
			if w.Rule == cdg.Launch && w.Evidence == cdg.ByCorrelation {
				since = g.Acts[w.From].Start
			}
		}
	}
	for a := call - 1; a >= max(g.Lanes[g.Acts[call].Lane].First, call-nearCalls) && g.Acts[a].Start >= since; a-- {
		if !g.Call(a) {
			continue
		}
		switch vendors.VerbOf(r.tr.Name(g.Acts[a].Event)) {
		case vendors.Allocate:
			return MemoryAllocated
		case vendors.StreamWait:
			return EventNotRecorded
		}
	}
	return NoReason
}

// deviceIdle reports whether no stream of the lane's device ran anything during nine tenths of a segment.
func (r *reasoner) deviceIdle(s *Segment, lane cdg.LaneID) bool {
	g := r.g
	var busy int64
	for l := range g.Lanes {
		if x := &g.Lanes[l]; !x.Stream || x.Proc != g.Lanes[lane].Proc {
			continue
		} else {
			n, _ := slices.BinarySearchFunc(g.Acts[x.First:x.Limit], s.End, func(a cdg.Act, t int64) int { return cmp.Compare(a.Start, t) })
			for a := x.First + cdg.ActID(n) - 1; a >= x.First && a > x.First+cdg.ActID(n)-nearCalls; a-- {
				busy += max(0, min(g.Acts[a].End, s.End)-max(g.Acts[a].Start, s.Start))
			}
		}
	}
	return 10*busy <= s.End-s.Start
}

// ofThread reads what a gap of a thread is.
func (r *reasoner) ofThread(s *Segment, lane cdg.LaneID, before, after cdg.ActID) Reason {
	if r.overhead == nil {
		r.overhead = r.spans(trace.Overhead)
	}
	switch {
	case s.Kind == Unexplained:
		return DeviceRan
	case 2*covered(*r.overhead, s.Start, s.End) >= s.End-s.Start:
		return ProfilerAtWork
	case r.stopsRecording(lane, after):
		return RecordingEnded
	case r.otherDevice(s):
		return OtherDevice
	case before == cdg.NoAct:
		return BeforeThread
	case after == cdg.NoAct:
		return AfterThread
	case r.g.Autograd(lane) && !r.g.Marker(before) && !r.g.Marker(after):
		return EngineBetween
	}
	if r.ops == nil {
		r.ops, r.python = new(bool), new(bool)
		for i := range r.tr.Events {
			switch r.tr.Events[i].Kind {
			case trace.CPUOp, trace.Annotation:
				*r.ops = true
			case trace.Python:
				*r.python = true
			}
		}
	}
	switch {
	case *r.python:
		return OutsidePython
	case !*r.ops:
		return CallsOnly
	}
	return PythonUnrecorded
}

// stopsRecording reports whether a slice is the synchronisation of the device with which the profiler ends: the last
// thing that its thread did.
func (r *reasoner) stopsRecording(lane cdg.LaneID, a cdg.ActID) bool {
	return a != cdg.NoAct && a == r.g.Lanes[lane].Limit-1 && r.g.Call(a) && vendors.VerbOf(r.tr.Name(r.g.Acts[a].Event)) == vendors.DeviceSync
}

func (r *reasoner) otherDevice(s *Segment) bool {
	if r.other == nil {
		r.other = r.spans(trace.DeviceOther)
	}
	return 2*covered(*r.other, s.Start, s.End) >= s.End-s.Start
}

// spans is the union of all events of a kind, in order.
func (r *reasoner) spans(kind trace.Kind) *[]cdg.Span {
	parts := make([][]cdg.Span, par.Ranges(len(r.tr.Events), 1<<16))
	par.EachRange(len(r.tr.Events), len(parts), func(part, from, to int) {
		for i := from; i < to; i++ {
			if e := &r.tr.Events[i]; e.Kind == kind && e.Ph == 'X' {
				if end := r.tr.End(e); end > e.Start {
					parts[part] = append(parts[part], cdg.Span{Start: e.Start, End: end})
				}
			}
		}
	})
	out := Joined(slices.Concat(parts...))
	return &out
}

// covered is how much of [from, to] lies under spans.
func covered(spans []cdg.Span, from, to int64) (ns int64) {
	n, _ := slices.BinarySearchFunc(spans, from, func(s cdg.Span, t int64) int { return cmp.Compare(s.End, t) })
	for ; n < len(spans) && spans[n].Start < to; n++ {
		ns += min(spans[n].End, to) - max(spans[n].Start, from)
	}
	return ns
}
