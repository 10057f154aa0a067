package pftrace

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"overlay/internal/trace"
)

// processName is what the viewer shows before the pid.
func (w *writer) processName(pr *trace.Process, pseudo bool) string {
	switch {
	case pr.IsDevice:
		return w.tr.DeviceName(pr)
	case pseudo && pr.PID.IsNum:
		return cmp.Or(strings.TrimSpace(pr.Name), strings.TrimSpace(pr.Labels), "profiler "+w.tr.TokenText(pr.PID))
	case pseudo:
		return cmp.Or(strings.TrimSpace(pr.Name), w.tr.TokenText(pr.PID), "profiler")
	}
	name := cmp.Or(strings.TrimSpace(pr.Name), "process") + " " + w.tr.TokenText(pr.PID)
	if w.tr.Rank >= 0 && w.rank == nil {
		name += fmt.Sprintf(" (rank %d)", w.tr.Rank)
	}
	return name
}

func (w *writer) threadName(t *trace.Track) string {
	tid := w.tr.TokenText(t.TID)
	number := tid
	if t.TID.IsNum {
		number = strconv.FormatInt(t.TID.Num, 10)
	}
	if t.Stream >= 0 {
		number = strconv.FormatInt(t.Stream, 10)
	}
	name := strings.TrimSpace(t.Name)
	stream := "stream " + strings.TrimPrefix(number, "stream ")
	switch t.Class {
	case trace.DeviceStream:
		return stream
	case trace.AnnotationTrack:
		return stream + " annotations"
	case trace.SyncTrack:
		if t.TID.IsNum && t.TID.Num < 0 {
			return "device sync"
		}
		return stream + " sync"
	case trace.OverheadTrack:
		return cmp.Or(name, "overhead "+number)
	case trace.DeviceTrack:
		return cmp.Or(name, "row "+number)
	case trace.SpanTrack:
		return cmp.Or(name, tid, "spans")
	}
	if !t.TID.IsNum {
		return cmp.Or(name, tid, "events")
	}
	return cmp.Or(name, "thread "+number)
}
