package overlay

import (
	"cmp"
	"strconv"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/trace"
)

// segmentsTrack shows every segment of the path. The exact method leaves no holes; the others do where they explain
// nothing.
func segmentsTrack(tr *trace.Trace, p *critpath.Path, marks *Marks, slim bool) Track {
	r := &segmentRow{tr: tr, window: p.Window.Start, segs: &p.Segments, at: p.Segments.Reader(), resources: resources(tr), marks: marks, slim: slim}
	if p.Method != "exact" { // its segments lie side by side
		r.leaveOutCovered()
	}
	return Track{Name: TrackSegments, Parent: 0, Category: CategoryPath, Maker: r, EventOf: r.event, Description: strings.Join([]string{
		"Every segment of the critical path, in time order: which event the run waited for at each moment.",
		"Name: the event, or what the time is where it belongs to none. Args: kind, resource, position in the input.",
		"critical_id is also on the event itself: find slices with the same arg value to go there.",
		Legend}, "\n")}
}

// segmentRow draws segments.
type segmentRow struct {
	tr        *trace.Trace
	window    int64 // its start
	segs      *critpath.Segments
	at        func(i int) *critpath.Segment
	shown     []int32  // the segment of each slice; nil: all are shown
	resources []string // per track
	marks     *Marks
	slim      bool // without numbers that lead to the event: positions count in a file that the reader may not have, and numbers without pattern are half of what a segment costs
}

// leaveOutCovered finds the segments that lie under earlier ones: those of ctda and hta may.
func (r *segmentRow) leaveOutCovered() {
	at := r.window
	for i, s := range r.segs.All() {
		covered := s.End <= at
		if covered && r.shown == nil {
			r.shown = make([]int32, i, r.segs.Len())
			for k := range r.shown {
				r.shown[k] = int32(k)
			}
		}
		if covered {
			continue
		}
		if r.shown != nil {
			r.shown = append(r.shown, int32(i))
		}
		at = s.End
	}
}

func (r *segmentRow) ForOne() SliceMaker {
	one := *r
	one.at = r.segs.Reader()
	return &one
}

func (r *segmentRow) Len() int {
	if r.shown != nil {
		return len(r.shown)
	}
	return r.segs.Len()
}

// index returns the index of the segment of a slice.
func (r *segmentRow) index(i int) int {
	if r.shown != nil {
		return int(r.shown[i])
	}
	return i
}

// Span shows of segments that overlap the later one cut.
func (r *segmentRow) Span(i int) (start, dur int64) {
	before := r.window
	if i > 0 {
		before = r.at(r.index(i - 1)).End
	}
	s := r.at(r.index(i))
	start = max(s.Start, before)
	return start, s.End - start
}

func (r *segmentRow) Look(i int) (name, color string) {
	s := r.at(r.index(i))
	if s.Owned() {
		name = r.tr.Name(s.Event)
	}
	return cmp.Or(name, s.Kind.String()), s.Kind.Class().ViewerColor()
}

// event is whose time a slice is, NoEvent for nobody's.
func (r *segmentRow) event(i int) trace.EventID { return r.at(r.index(i)).Event }

// Args are those of a segment: an owned one has the critical_id of its event, every other its own number.
func (r *segmentRow) Args(i int, to *[MaxArgs]Arg) int {
	critical := r.index(i)
	s := r.at(critical)
	if s.Owned() && !r.slim {
		critical = int(r.marks.id(s.Event))
	}
	to[0] = Arg{Key: ArgKind, Str: s.Kind.String(), IsStr: true}
	to[1] = Arg{Key: argEvidence, Str: s.Evidence.String(), IsStr: true}
	n := 2
	if !r.slim {
		to[n] = Arg{Key: ArgID, Int: int64(critical)}
		n++
	}
	if s.Track != trace.NoTrack {
		to[n] = Arg{Key: argResource, Str: r.resources[s.Track], IsStr: true}
		n++
	}
	if s.Owned() && !r.slim {
		to[n] = Arg{Key: ArgEvent, Int: int64(s.Event)}
		n++
	}
	return n
}

// Alike goes by all that Args makes texts of, and by what says whether there are numbers.
func (r *segmentRow) Alike(i int) int {
	s := r.at(r.index(i))
	of := (int(s.Kind)*int(cdg.NumEvidence)+int(s.Evidence))*(len(r.resources)+1) + int(s.Track) + 1
	if s.Owned() {
		return -1 - of
	}
	return of
}

// resources names the rows of a trace in short: "thread 416", "stream 7"; with the process or GPU where there are several.
func resources(tr *trace.Trace) []string {
	hosts, gpus := map[trace.ProcID]bool{}, map[trace.ProcID]bool{} // processes that run threads, devices: an input has others too
	for i := range tr.Tracks {
		switch t := &tr.Tracks[i]; {
		case t.Class == trace.HostThread:
			hosts[t.Proc] = true
		case tr.Procs[t.Proc].IsDevice:
			gpus[t.Proc] = true
		}
	}
	names := make([]string, len(tr.Tracks))
	for i := range tr.Tracks {
		names[i] = resource(tr, trace.TrackID(i), len(hosts) > 1, len(gpus) > 1)
	}
	return names
}

func resource(tr *trace.Trace, id trace.TrackID, withHost, withGPU bool) string {
	t := &tr.Tracks[id]
	proc := &tr.Procs[t.Proc]
	name := "thread " + tr.TokenText(t.TID)
	if t.Class != trace.HostThread {
		name = tr.StreamName(t)
	}
	switch {
	case proc.IsDevice && withGPU:
		name = "GPU " + strconv.FormatInt(proc.Device, 10) + " " + name
	case !proc.IsDevice && withHost:
		name = "process " + tr.TokenText(proc.PID) + " " + name
	}
	return name
}
