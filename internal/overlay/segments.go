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
	rows := resources(tr)
	at := p.Window.Start
	for i := range p.Segments {
		s := &p.Segments[i]
		start := max(s.Start, at) // segments of ctda and hta may overlap: the row shows the later one cut
		if start >= s.End {
			continue
		}
		at = s.End
		sl := Slice{Start: start, Dur: s.End - start, Name: s.Kind.String(), Color: classColors[s.Kind.Class()]}
		sl.Args = make([]Arg, 0, 5)
		sl.Args = append(sl.Args, Arg{Key: "kind", Str: s.Kind.String(), IsStr: true})
		if s.Track != kineto.NoTrack {
			sl.Args = append(sl.Args, Arg{Key: "resource", Str: rows[s.Track], IsStr: true})
		}
		sl.Args = append(sl.Args, Arg{Key: "evidence", Str: s.Evidence.String(), IsStr: true})
		critical := int32(i)
		if s.Owned() {
			if name := tr.Name(s.Event); name != "" {
				sl.Name = name
			}
			critical = id[s.Event]
			sl.Args = append(sl.Args, Arg{Key: "event", Int: int64(s.Event)})
		}
		sl.Args = append(sl.Args, Arg{Key: "critical_id", Int: int64(critical)})
		t.Slices = append(t.Slices, sl)
	}
	return t
}

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
