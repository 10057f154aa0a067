package overlay

import (
	"strconv"
	"strings"

	"overlay/internal/critpath"
	"overlay/internal/kineto"
)

const segmentsCategory = "critical_path"

// segmentsTrack shows every segment of the path. The exact method leaves no holes; the others do where they explain
// nothing.
func segmentsTrack(tr *kineto.Trace, p *critpath.Path) Track {
	t := Track{Name: "Path segments", Parent: 0, Category: segmentsCategory, Description: strings.Join([]string{
		"Every segment of the critical path, in time order: which event the run waited for at each moment.",
		"Name: the event, or what the time is where it belongs to none. Args: kind, resource, position in the input.",
		"critical_id is also on the event itself: find slices with the same arg value to go there.",
		legend}, "\n"), Slices: make([]Slice, 0, len(p.Segments))}
	id := make([]int32, len(tr.Events))
	for i := range p.Marks {
		id[p.Marks[i].Event] = p.Marks[i].ID
	}
	shown := make([]int32, 0, len(p.Segments)) // the segment of each slice
	at := p.Window.Start
	for i := range p.Segments {
		s := &p.Segments[i]
		start := max(s.Start, at) // segments of ctda and hta may overlap: the row shows the later one cut
		if start >= s.End {
			continue
		}
		at = s.End
		name := s.Kind.String()
		if s.Owned() && tr.Name(s.Event) != "" {
			name = tr.Name(s.Event)
		}
		t.Slices = append(t.Slices, Slice{Start: start, Dur: s.End - start, Name: name, Color: classColors[s.Kind.Class()]})
		shown = append(shown, int32(i))
	}
	rows := resources(tr)
	t.ArgsOf = func(i int) ([MaxArgs]Arg, int) { return segmentArgs(p, rows, id, shown[i]) }
	return t
}

// segmentArgs are the args of a segment. An owned one has the critical_id of its event, every other its own number.
func segmentArgs(p *critpath.Path, rows []string, id []int32, i int32) (args [MaxArgs]Arg, n int) {
	s := &p.Segments[i]
	args[0] = Arg{Key: "kind", Str: s.Kind.String(), IsStr: true}
	args[1] = Arg{Key: "evidence", Str: s.Evidence.String(), IsStr: true}
	critical := i
	if s.Owned() {
		critical = id[s.Event]
	}
	args[2] = Arg{Key: "critical_id", Int: int64(critical)}
	n = 3
	if s.Track != kineto.NoTrack {
		args[n] = Arg{Key: "resource", Str: rows[s.Track], IsStr: true}
		n++
	}
	if s.Owned() {
		args[n] = Arg{Key: positionArg, Int: int64(s.Event)}
		n++
	}
	return args, n
}

// positionArg is the position of a segment's event in the input; it stands last.
const positionArg = "event"

// resources names the rows of a trace in short: "thread 416", "stream 7"; with the process or GPU where there are several.
func resources(tr *kineto.Trace) []string {
	hosts, gpus := 0, 0
	for i := range tr.Procs {
		if tr.Procs[i].IsDevice {
			gpus++
		} else {
			hosts++
		}
	}
	names := make([]string, len(tr.Tracks))
	for i := range tr.Tracks {
		names[i] = resource(tr, kineto.TrackID(i), hosts > 1, gpus > 1)
	}
	return names
}

func resource(tr *kineto.Trace, id kineto.TrackID, withHost, withGPU bool) string {
	t := &tr.Tracks[id]
	proc := &tr.Procs[t.Proc]
	tid := strings.Trim(tr.Str(t.TID.Raw), `"`)
	name := "thread " + tid
	if t.Class != kineto.HostThread {
		if t.Stream >= 0 {
			tid = strconv.FormatInt(t.Stream, 10)
		}
		name = "stream " + strings.TrimPrefix(tid, "stream ")
	}
	switch {
	case proc.IsDevice && withGPU:
		name = "GPU " + strconv.FormatInt(proc.Device, 10) + " " + name
	case !proc.IsDevice && withHost:
		name = "process " + strings.Trim(tr.Str(proc.PID.Raw), `"`) + " " + name
	}
	return name
}
