package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/graph"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// DeviceUse says how much of the window a device works, and how much of it nothing is left for it to do.
type DeviceUse struct {
	Device int64   `json:"device" unit:"id"`
	Busy   int64   `json:"busy_ns" unit:"ns" about:"an operation runs on one of its streams"`
	Share  float64 `json:"busy_share" unit:"share" about:"of the window"`
	Empty  int64   `json:"queue_empty_ns" unit:"ns" about:"no operation is launched and not ended; between busy and this, what is launched waits"`
	None   float64 `json:"queue_empty_share" unit:"share" about:"of the window"`
}

// deviceUse sums up the operations of the window by device.
func deviceUse(g *graph.Graph, w cdg.Window) []DeviceUse {
	busy := map[int64][]cdg.Span{}   // when operations of a device ran
	queued := map[int64][]cdg.Span{} // when operations of it were launched and had not ended
	for l := range g.Lanes {
		lane := &g.Lanes[l]
		if !lane.Stream || lane.First == lane.Limit {
			continue
		}
		device := g.Trace.Procs[lane.Proc].Device
		ran, waited := busy[device], queued[device]
		first, firstWaited := len(ran), len(waited)
		for a := lane.First; a < lane.Limit; a++ {
			act := &g.Acts[a]
			s := cdg.Span{Start: max(act.Start, w.Start), End: min(act.End, w.End)}
			ran = joinLast(ran, first, s)
			if call := g.Trace.Launch(act.Event); call != trace.NoEvent {
				s.Start = max(min(g.Trace.Events[call].Start, s.Start), w.Start)
			}
			waited = joinLast(waited, firstWaited, s)
		}
		busy[device], queued[device] = ran, waited
	}
	out := []DeviceUse{}
	for _, device := range slices.Sorted(maps.Keys(busy)) {
		d := DeviceUse{Device: device, Busy: covered(busy[device]), Empty: w.End - w.Start - covered(queued[device])}
		d.Share, d.None = tables.ShareOf(d.Busy, w.End-w.Start), tables.ShareOf(d.Empty, w.End-w.Start)
		out = append(out, d)
	}
	return out
}

// joinLast adds a span to those of one stream, which begin at first, or makes the last one of them longer.
func joinLast(list []cdg.Span, first int, s cdg.Span) []cdg.Span {
	if s.Start >= s.End {
		return list
	}
	if n := len(list); n > first && s.Start <= list[n-1].End {
		list[n-1] = cdg.Span{Start: min(list[n-1].Start, s.Start), End: max(list[n-1].End, s.End)}
		return list
	}
	return append(list, s)
}

// covered is the time in which any of the spans lies.
func covered(spans []cdg.Span) (ns int64) {
	for _, s := range critpath.Joined(spans) {
		ns += s.End - s.Start
	}
	return ns
}

// listedDevices is how many devices are named one by one.
const listedDevices = 3

// Devices says how busy the devices were; "" without any.
func (r *Report) Devices() string {
	known := ""
	if tables.ShareOf(r.Path.ByKind[critpath.GPUUnrecorded.String()], r.Window.Duration) >= blindShare {
		known = ", as far as it was recorded"
	}
	one := func(d *DeviceUse) string {
		return fmt.Sprintf("GPU %d busy %s, its queue empty %s", d.Device, tables.WholeShare(d.Share), tables.WholeShare(d.None))
	}
	if len(r.DeviceUse) > listedDevices {
		byShare := slices.SortedStableFunc(slices.Values(r.DeviceUse), func(a, b DeviceUse) int { return cmp.Compare(a.Share, b.Share) })
		least, most := &byShare[0], &byShare[len(byShare)-1]
		return fmt.Sprintf("%s: from %s to %s", tables.Counted(len(r.DeviceUse), "GPU"), one(least), one(most)) + known
	}
	var say []string
	for i := range r.DeviceUse {
		say = append(say, one(&r.DeviceUse[i]))
	}
	if len(say) == 0 {
		return ""
	}
	return strings.Join(say, "; ") + known
}

// leftOut is how much of a window that is the whole trace was recorded before it and after it.
func leftOut(tr *trace.Trace, w cdg.Window) (before, after int64) {
	if w.Annotation != "" {
		return 0, 0
	}
	start, end := w.Start, w.End
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Ph == 'X' && e.Flags&trace.ClampedTS == 0 && (e.Kind.Host() || e.Kind.Device()) {
			start, end = min(start, e.Start), max(end, tr.End(e))
		}
	}
	return w.Start - start, end - w.End
}

// worthSaying is the part of the window from which on it is said that something recorded lies outside of it.
const worthSaying = 0.01

// Outside says what was recorded outside of a window that is the whole trace; "" where that is little.
func (r *Report) Outside() string {
	var say []string
	for i, ns := range []int64{r.Window.Before, r.Window.After} {
		if tables.ShareOf(ns, r.Window.Duration) >= worthSaying {
			say = append(say, tables.Duration(ns)+[]string{" before", " after"}[i]+" it")
		}
	}
	if len(say) == 0 {
		return ""
	}
	why := ", where no thread that drives a device is recorded, or the profiler starts or stops"
	if r.Method == "hta" {
		why = ", since the method has a window of its own"
	}
	return "left out: " + strings.Join(say, " and ") + why
}
