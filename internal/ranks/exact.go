package ranks

import (
	"slices"
	"sort"

	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/trace"
)

// Exact is the path of a job where it runs on one rank, event by event: a Summary keeps only the longest stretches of it.
type Exact struct {
	Segments []critpath.Segment // on the job's clock, by time; they tile the stays of the rank
	Of       []int32            // per segment: the segment of Job.Path in which it begins
	Edges    []critpath.Edge    // inside of stays
	Marks    []critpath.Mark    // by event; ID and Next are segments of Job.Path
}

// Exact walks the stays of a member again, on the graph of its trace. base is what Summarize added to the times of the trace.
func (j *Job) Exact(member int32, g *graph.Graph, base int64) *Exact {
	m := &j.Members[member]
	x := &Exact{}
	acts := operations(g)
	var next []int32 // per segment: that of Job.Path which comes after it, where it is the last of a stay; else -1
	for i := range j.Stays {
		st := &j.Stays[i]
		if st.Member != member {
			continue
		}
		segments, edges := critpath.Back(g, acts, int(st.Op), m.Clock.before(st.Start)-base)
		x.Edges = append(x.Edges, edges...)
		first := sort.Search(len(j.Path), func(k int) bool { return j.Path[k].End > st.Start })
		limit := first + sort.Search(len(j.Path)-first, func(k int) bool { return j.Path[first+k].Start >= st.End })
		for k := range segments {
			s := &segments[k]
			s.Start, s.End = m.Clock.Global(s.Start+base), m.Clock.Global(s.End+base)
		}
		x.fill(j.Path[first:limit], int32(first), segments, st)
		for len(next) < len(x.Segments) {
			next = append(next, -1)
		}
		if len(next) > 0 && limit < len(j.Path) {
			next[len(next)-1] = int32(limit)
		}
	}
	x.mark(next)
	return x
}

// fill tiles a stay: with the exact segments, and where these end, or nobody worked on this rank, with those of the job. at is the
// place of the first of path.
func (x *Exact) fill(path []Segment, at int32, exact []critpath.Segment, st *Stay) {
	k := 0
	put := func(s critpath.Segment, of int32) {
		n := len(x.Segments)
		if n > 0 {
			if p := &x.Segments[n-1]; p.End == s.Start && p.Event == s.Event && p.Kind == s.Kind && p.Track == s.Track {
				p.End = s.End
				return
			}
		}
		x.Segments, x.Of = append(x.Segments, s), append(x.Of, of)
	}
	for i := range path {
		p := &path[i]
		t, end := max(p.Start, st.Start), min(p.End, st.End)
		whole := critpath.Segment{Event: p.Event, Track: trace.NoTrack, Kind: p.Kind}
		for t < end {
			for k < len(exact) && exact[k].End <= t {
				k++
			}
			switch {
			case p.Kind == critpath.MissingRank || p.Kind == critpath.Unrecorded || k == len(exact):
				whole.Start, whole.End = t, end
				put(whole, at+int32(i))
			case exact[k].Start > t:
				whole.Start, whole.End = t, min(end, exact[k].Start)
				put(whole, at+int32(i))
			default:
				s := exact[k]
				s.Start, s.End = t, min(end, s.End)
				put(s, at+int32(i))
			}
			t = x.Segments[len(x.Segments)-1].End
		}
	}
}

// mark sums the segments by event. next says which segment of the job follows the last one of a stay.
func (x *Exact) mark(next []int32) {
	place := map[trace.EventID]int{}
	last := -1
	for i := range x.Segments {
		s := &x.Segments[i]
		if s.Owned() {
			n, ok := place[s.Event]
			if !ok {
				n = len(x.Marks)
				place[s.Event] = n
				x.Marks = append(x.Marks, critpath.Mark{Event: s.Event, ID: x.Of[i], Next: -1})
			}
			x.Marks[n].NS += s.End - s.Start
			if last >= 0 {
				x.Marks[last].Next = x.Marks[n].ID
			}
			last = n
		}
		if next[i] >= 0 && last >= 0 {
			x.Marks[last].Next, last = next[i], -1
		}
	}
	slices.SortFunc(x.Marks, func(a, b critpath.Mark) int { return int(a.Event) - int(b.Event) })
}

// before is a local time that is not after the given time of the job.
func (c *Clock) before(global int64) int64 {
	t := global + c.Offset
	for step := int64(1000); c.Global(t) > global; step *= 2 {
		t -= step
	}
	return t
}
