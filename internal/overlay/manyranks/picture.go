// Package manyranks decides what is drawn of a job of many ranks: one root row with the verdict, the path over the ranks, a
// strip for each rank that shows when it waits and for whom, and what becomes of the events of the ranks that are drawn.
//
// Times are those of the job's clock, less Picture.Origin.
package manyranks

import (
	"overlay/internal/critpath"
	"overlay/internal/overlay"
	"overlay/internal/ranks"
	"overlay/internal/ranks/replay"
	"overlay/internal/trace"
)

// Options of Draw.
type Options struct {
	Version string
	Flows   overlay.Flows
	Slim    bool   // without numbers that join records
	Drawn   []bool // per member: its events are drawn; nil for none
	Then    []replay.Run
}

// Picture is what is drawn of a job. Its tracks are complete when the events of all drawn ranks on the path are known (Add, Complete).
type Picture struct {
	Tracks []overlay.Track // parents before children
	Attrs  []overlay.Attr
	Origin int64 // what is taken off all times of the job, so that none is negative
	Unix   bool  // times of the job count from 1970

	j        *ranks.Job
	o        Options
	segments *segmentRow
	strips   []ranks.Strip // by member
	kernels  []kernel
}

// kernel is an event of a drawn rank on which an arrow begins as well.
type kernel struct {
	member int32
	event  trace.EventID
	arrow  uint32
}

// since1970 is a time stamp from which on stamps are taken for Unix time: March 1973.
const since1970 = int64(1e17)

// room is what is left before the first recorded moment where times count from nowhere: events before it are rare.
const room = int64(60e9)

// Draw decides what to draw of a job and of what was found wrong with it.
func Draw(j *ranks.Job, v *ranks.Verdict, o Options) *Picture {
	p := &Picture{j: j, o: o}
	if p.Unix = j.Window[0] >= since1970; !p.Unix {
		first := j.Window[0]
		for m := range j.Members {
			first = min(first, j.Members[m].Start)
		}
		p.Origin = first - room
	}
	p.segments = newSegmentRow(p)
	p.Tracks = append(p.Tracks, p.verdictTrack(v), overlay.Track{Name: overlay.TrackSegments, Parent: 0, Category: overlay.CategoryPath, Maker: p.segments,
		Description: "Every segment of the critical path over the ranks, in time order: on which rank the job was at each moment, and in what.\n" +
			"Of ranks that are drawn each event; of others the longest stretches.\n" +
			"critical_id is the place of the segment in the report (overlay report --json --segments), and is also on the events.\n" + overlay.Legend})
	p.stripTracks()
	p.thenTracks()
	p.stepTracks(v)
	p.attributes()
	return p
}

// Add takes the exact path on a drawn rank, and with it the names of its events. Nothing of the trace is kept.
func (p *Picture) Add(member int32, x *ranks.Exact, tr *trace.Trace) { p.segments.add(member, x, tr) }

// Complete puts what was added into the tracks. It is called once, after all.
func (p *Picture) Complete() { p.segments.arrange() }

// Clock is the clock of a member in the picture.
func (p *Picture) Clock(member int32) func(int64) int64 {
	c := &p.j.Members[member].Clock
	return func(t int64) int64 { return c.Global(t) - p.Origin }
}

// Kernels calls visit for the events of a member on which arrows from rank to rank begin.
func (p *Picture) Kernels(member int32, visit func(event trace.EventID, arrow uint32)) {
	for _, k := range p.kernels {
		if k.member == member {
			visit(k.event, k.arrow)
		}
	}
}

// OnPath reports whether the path runs on a member.
func (p *Picture) OnPath(member int32) bool {
	for i := range p.j.Stays {
		if p.j.Stays[i].Member == member {
			return true
		}
	}
	return false
}

func (p *Picture) attributes() {
	j, drawn := p.j, 0
	for _, d := range p.o.Drawn {
		if d {
			drawn++
		}
	}
	_, class := p.byWhat(j.Window[0], j.Window[1])
	str := func(key, s string) { p.Attrs = append(p.Attrs, overlay.Attr{Key: key, Str: s, IsStr: true}) }
	num := func(key string, n int64) { p.Attrs = append(p.Attrs, overlay.Attr{Key: key, Int: n}) }
	if p.o.Version != "" {
		str(overlay.AttrVersion, p.o.Version)
	}
	str(overlay.AttrMethod, "exact")
	str(overlay.AttrBoundBy, critpath.BoundBy(&class).String())
	num(overlay.AttrWindow, j.Window[1]-j.Window[0])
	num(overlay.AttrStart, j.Window[0]-p.Origin)
	num(overlay.AttrEnd, j.Window[1]-p.Origin)
	num(overlay.AttrSegments, int64(len(j.Path)))
	num(overlay.AttrJobWorld, int64(j.World))
	num(overlay.AttrJobRanks, int64(len(j.Members)))
	num(overlay.AttrJobDrawn, int64(drawn))
}
