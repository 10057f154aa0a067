package pftrace

import (
	"overlay/internal/overlay"
	"overlay/internal/perfetto"
)

// stacksName is what the row of the path's stacks is called.
const stacksName = "Critical path by stacks"

// addStacks adds the path as samples of stacks, on a row of a process of their own: the path goes from process to process, and the viewer adds up
// what lies on one row.
func (w *writer) addStacks(s *overlay.Stacks) {
	taken := numbers{}
	for i := range w.out.Tracks {
		if t := &w.out.Tracks[i]; t.Kind == perfetto.Process {
			taken.take(t.PID)
		}
	}
	pid := taken.take(stacksPID)
	w.out.Tracks = append(w.out.Tracks, perfetto.Track{Kind: perfetto.Process, Parent: -1, PID: pid, Order: -1, Name: stacksName,
		Description: "Select a part of this row: the viewer adds up the path there by module, Python line and operator, in ns."})
	w.out.Samples = &perfetto.Samples{Source: "overlay", Counter: "critical path", PID: pid, Frames: s.Graph.Frames(), Stack: s.Graph.Stack}
	for _, x := range s.List {
		if x.Start >= 0 {
			w.out.Samples.List = append(w.out.Samples.List, perfetto.Sample{TS: x.Start, Weight: x.NS, Stack: x.Stack})
		}
	}
}
