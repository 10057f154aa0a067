package chromejson

import (
	"math"

	"overlay/internal/chrome"
	"overlay/internal/overlay"
	"overlay/internal/trace"
)

// An arrow with an end that no time stamp reaches is drawn at the segment of that event on the row "Path segments": the
// slice has the event's name and its time on the path. The segments lie side by side, so each is reached. No segment has
// arrows but these, so that a stand-in can part what a click draws, but never joins it: the limit on it holds.

// standIns are the slices of the row of the path that belong to events at the ends of arrows.
type standIns struct {
	lane *chromeLane
	pid  int64
	of   map[trace.EventID][]int32 // positions in lane.slices, rising
}

// standIns finds the segments of the events at the ends of the given arrows.
func (w *writer) standIns(arrows []int32) *standIns {
	s := &standIns{pid: w.pid, of: map[trace.EventID][]int32{}}
	for i := range w.lanes {
		if w.lanes[i].track.EventOf != nil {
			s.lane = &w.lanes[i]
			break
		}
	}
	if s.lane == nil {
		return s
	}
	for _, i := range arrows {
		a := &w.drawing.Arrows[i]
		s.of[a.From], s.of[a.To] = nil, nil
	}
	for at, k := range s.lane.slices {
		event := s.lane.track.EventOf(int(k))
		if list, wanted := s.of[event]; wanted {
			s.of[event] = append(list, int32(at))
		}
	}
	return s
}

// bind binds an arrow with one end at a segment, or with both. Of several segments it takes those between which the path
// has the fewest others: the step from one event to the other. It returns which ends are at segments, "" where that does
// not help.
func (s *standIns) bind(a *overlay.Arrow, from, to place) (b binding, which string) {
	i, j := closest(s.of[a.From], s.of[a.To])
	leaving, entered := s.place(i), s.place(j)
	for _, try := range []struct {
		from, to place
		which    string
	}{{leaving, to, "from"}, {from, entered, "to"}, {leaving, entered, "both"}} {
		if b, ok := bind(a, try.from, try.to); ok {
			return b, try.which
		}
	}
	return b, ""
}

// closest returns the two numbers i of from and j of to, both rising lists, with the least between them; i before j where
// there are such. -1 stands for a number of an empty list: then it is the last of from, or the first of to.
func closest(from, to []int32) (i, j int32) {
	i, j = -1, -1
	if len(from) > 0 {
		i = from[len(from)-1]
	}
	if len(to) > 0 {
		j = to[0]
	}
	best := int32(math.MaxInt32)
	k := 0
	for _, t := range to {
		for k < len(from) && from[k] < t {
			k++
		}
		if k > 0 && t-from[k-1] < best {
			best, i, j = t-from[k-1], from[k-1], t
		}
	}
	return i, j
}

// place is where a segment is reached: until the next one begins, after the import's rounding. Of several that then begin
// together none is. There is no place for -1.
func (s *standIns) place(at int32) place {
	if at < 0 {
		return place{}
	}
	span := func(k int) (start, end int64) {
		start, dur := s.lane.track.Span(int(s.lane.slices[k]))
		return start, start + dur
	}
	start, end := span(int(at))
	from := chrome.Imported(start)
	p := place{pid: s.pid, tid: s.lane.tid, start: start, end: end, at: reach{from, math.MaxInt64, from}, row: true}
	if next := int(at) + 1; next < len(s.lane.slices) {
		then, _ := span(next)
		p.at.until = chrome.Imported(then)
	}
	if at > 0 {
		if before, _ := span(int(at) - 1); chrome.Imported(before) == from {
			p.at.until = from
		}
	}
	return p
}
