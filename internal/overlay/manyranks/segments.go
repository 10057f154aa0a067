package manyranks

import (
	"cmp"
	"slices"
	"strconv"

	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/ranks"
	"overlay/internal/trace"
)

// segmentRow is the row of all segments of the path: those of the job, and in their place the exact ones of drawn ranks.
type segmentRow struct {
	p     *Picture
	segs  []segment   // by time
	exact [][]segment // by member: what is to take the place of its own segments, nil for a member without
	names []string
	index map[string]int32
}

type segment struct {
	start, end int64
	member     int32
	id         int32 // the segment of the job in which it begins
	event      trace.EventID
	name       int32
	kind       critpath.SegmentKind
}

func newSegmentRow(p *Picture) *segmentRow {
	r := &segmentRow{p: p, index: map[string]int32{}}
	for i := range p.j.Path {
		s := &p.j.Path[i]
		r.segs = append(r.segs, segment{s.Start, s.End, s.Member, int32(i), s.Event, r.name(p.j.Members[s.Member].Names[s.Name]), s.Kind})
	}
	return r
}

func (r *segmentRow) name(s string) int32 {
	i, ok := r.index[s]
	if !ok {
		i = int32(len(r.names))
		r.names = append(r.names, s)
		r.index[s] = i
	}
	return i
}

// add puts the exact segments of a member in the place of its own.
func (r *segmentRow) add(member int32, x *ranks.Exact, tr *trace.Trace) {
	symbols := map[trace.Sym]int32{}
	if r.exact == nil {
		r.exact = make([][]segment, len(r.p.j.Members))
	}
	list := make([]segment, 0, len(x.Segments))
	for i := range x.Segments {
		s := &x.Segments[i]
		seg := segment{s.Start, s.End, member, x.Of[i], s.Event, r.name(""), s.Kind}
		if s.Owned() {
			sym := tr.Events[s.Event].Name
			n, ok := symbols[sym]
			if !ok {
				n = r.name(string([]byte(tr.Str(sym)))) // nothing of the trace is kept
				symbols[sym] = n
			}
			seg.name = n
		}
		list = append(list, seg)
	}
	r.exact[member] = list
}

// arrange puts what was added in its place.
func (r *segmentRow) arrange() {
	r.segs = slices.DeleteFunc(r.segs, func(s segment) bool { return r.exact != nil && r.exact[s.member] != nil })
	for _, list := range r.exact {
		r.segs = append(r.segs, list...)
	}
	r.exact = nil
	slices.SortFunc(r.segs, func(a, b segment) int { return cmp.Compare(a.start, b.start) })
}

func (r *segmentRow) ForOne() overlay.SliceMaker { return r }

func (r *segmentRow) Len() int { return len(r.segs) }

func (r *segmentRow) Span(i int) (start, dur int64) {
	s := &r.segs[i]
	return s.start - r.p.Origin, s.end - s.start
}

func (r *segmentRow) Look(i int) (name, color string) {
	s := &r.segs[i]
	name = "rank " + strconv.Itoa(int(r.p.j.Members[s.member].Rank)) + " · " + cmp.Or(r.names[s.name], whatOf(&ranks.Segment{Kind: s.kind, Member: s.member}).of(s.kind))
	return name, s.kind.Class().ViewerColor()
}

// of says what a segment is that belongs to no event.
func (w what) of(kind critpath.SegmentKind) string {
	if w.kind >= unrecorded {
		return w.words()
	}
	return kind.String()
}

func (r *segmentRow) Args(i int, to *[overlay.MaxArgs]overlay.Arg) (n int) {
	s := &r.segs[i]
	add := func(a overlay.Arg) {
		to[n] = a
		n++
	}
	add(overlay.Arg{Key: overlay.ArgRank, Int: int64(r.p.j.Members[s.member].Rank)})
	add(overlay.Arg{Key: overlay.ArgKind, Str: s.kind.String(), IsStr: true})
	if !r.p.o.Slim {
		add(overlay.Arg{Key: overlay.ArgID, Int: int64(s.id)})
		if s.event != trace.NoEvent {
			add(overlay.Arg{Key: overlay.ArgEvent, Int: int64(s.event)})
		}
	}
	if c := r.p.j.Path[s.id].Instance; c >= 0 {
		add(overlay.Arg{Key: overlay.ArgInstance, Int: int64(c)})
	}
	return n
}
