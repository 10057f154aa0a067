package cdg

import (
	"overlay/internal/clock"
	"overlay/internal/par"
	"overlay/internal/trace"
)

// Layout is the part of a graph that drawing needs, and that may outlive the rest: where the activities of the window
// lie, in lanes and inside each other.
//
// Invariants: ActOf and Acts[].Event are inverse; a parent stands before its children.
type Layout struct {
	Trace  *trace.Trace // with the times of operations that Clock says
	Clock  []clock.Correction
	Window Window
	Steps  []Step

	Lanes  []Lane
	Acts   []Act
	ActOf  []ActID // per event of the trace; NoAct for events that are no activity
	Parent []ActID // slice of the thread that was open when a slice started, NoAct at the top and for operations

	flags   []actFlags     // per activity; phases read them while the rules run, so nothing is added after findFacts
	copying map[ActID]bool // ops that waited for a copy whose call is lost, found by the rules
}

// actFlags are what the rules and the walk ask about one activity. They are kept by activity and not by name, because the
// names of a trace may be replaced after the graph was built.
type actFlags uint8

const (
	factMarker actFlags = 1 << iota // an annotation or a frame: it says where its thread is, not that the thread works
	factCall                        // a runtime or driver call
	factLoader                      // a slice in which a data loader waits for a batch that is prepared elsewhere
)

// Enclosed is behind the last activity that lies in a slice, whether directly or in others: these follow the slice one after the
// other, since all that starts on its thread before the last of them ends lies in one of them. Nothing lies in an operation.
func (y *Layout) Enclosed(a ActID) (limit ActID) {
	lane, end := &y.Lanes[y.Acts[a].Lane], y.Acts[a].End
	for limit = a + 1; !lane.Stream && limit < lane.Limit && y.Acts[limit].Start < end; limit++ {
		end = max(end, y.Acts[limit].End)
	}
	return limit
}

// Marker reports whether a slice is an annotation or a frame: it says where its thread is, not that the thread works.
func (y *Layout) Marker(a ActID) bool { return y.flags[a]&factMarker != 0 }

// Call reports whether a slice is a runtime or driver call.
func (y *Layout) Call(a ActID) bool { return y.flags[a]&factCall != 0 }

// WaitsForLoader reports whether a slice waits for the batch that a data loader prepares elsewhere.
func (y *Layout) WaitsForLoader(a ActID) bool { return y.flags[a]&factLoader != 0 }

// findFacts looks up what kinds of slices there are, once per name.
func (b *builder) findFacts() {
	d := b.d
	marker, loader := matchSyms(b.tr, markerOp.MatchString), matchSyms(b.tr, loaderWait.MatchString)
	d.flags = make([]actFlags, len(d.Acts))
	threads := int(b.firstOp) // their activities come first
	par.EachRange(threads, ranges(threads, 0), func(_, from, to int) {
		for a := ActID(from); a < ActID(to); a++ {
			e := b.event(a)
			switch {
			case e.Kind.Call():
				d.flags[a] = factCall
			case e.Kind == trace.Annotation, e.Kind == trace.Python, e.Kind == trace.CPUOp && marker[e.Name]:
				d.flags[a] = factMarker
			}
			if loader[e.Name] {
				d.flags[a] |= factLoader
			}
		}
	})
}
