package cdg

import (
	"regexp"

	"overlay/internal/par"
	"overlay/internal/trace"
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

var (
	// loaderWait names slices in which a data loader waits for its pin-memory thread.
	loaderWait = regexp.MustCompile(`^enumerate\(Data(Loader|Pipe)\)#|torch/utils/data/|queue\.py|multiprocessing/`)
	// blockingFrame names slices in which a thread waits for another: locks, joins, queues, the autograd engine.
	blockingFrame = regexp.MustCompile(`(^|[\W_])(run_backward|wait|wait_for|join|acquire|result|recv|recv_bytes|select|poll|_wait_for_tstate_lock)($|\W)|queue\.py\(\d+\): get`)
)

// markerOp names ops that are annotations: the first schemas wrote both with one category.
var markerOp = regexp.MustCompile(`^(` + trace.StepPrefix + `|enumerate\(Data(Loader|Pipe)\)#|Optimizer\.|## )`)
