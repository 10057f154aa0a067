package critpath

import (
	"overlay/internal/cdg"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// opKind is the segment kind of a GPU operation.
func (w *walker) opKind(id trace.EventID) SegmentKind {
	switch e := &w.tr.Events[id]; {
	case e.Kind == trace.Memcpy:
		return Memcpy
	case e.Kind == trace.Memset:
		return Memset
	case e.Kind == trace.GraphNode:
		return CPU // a callback that the GPU waits for; what only records an event takes no time
	case w.comm(e.Name):
		return Comm
	}
	return Compute
}

var hostKind = [trace.NumKinds]SegmentKind{trace.Runtime: RuntimeCall, trace.Driver: RuntimeCall, trace.Python: PythonFrame}

// hostSet tells what time of a thread is that a slice has to itself. Each name is looked at once, when first asked.
type hostSet struct {
	y     *cdg.Layout
	known []uint8 // per symbol: 0 not asked, 1 it says what ran, 2 it is a name around what was not recorded
	idles []uint8 // per symbol: 0 not asked, 1 a frame of that name works, 2 it waits for another thread
}

func newHostSet(y *cdg.Layout) hostSet {
	n := len(y.Trace.Syms)
	return hostSet{y, make([]uint8, n), make([]uint8, n)}
}

// own is the kind of time that a slice has to itself, and on what evidence it is that. An annotation, a step and a frame that waits say
// where the thread was: what it did there is not recorded, unless the annotation stands for the work of a backend or of a data loader.
func (s *hostSet) own(a cdg.ActID) (SegmentKind, cdg.Evidence) {
	e := &s.y.Trace.Events[s.y.Acts[a].Event]
	if !s.y.Marker(a) {
		return hostKind[e.Kind], cdg.ByProgram
	}
	if s.known[e.Name] == 0 {
		name := s.y.Trace.Str(e.Name)
		_, _, backend := vendors.BackendCall(name)
		s.known[e.Name] = 2
		says := backend
		if e.Kind == trace.Python {
			says = !s.waits(a)
		}
		if says || s.y.WaitsForLoader(a) {
			s.known[e.Name] = 1
		}
	}
	if s.known[e.Name] == 2 {
		return HostUnrecorded, cdg.ByNothing
	}
	return hostKind[e.Kind], cdg.ByProgram
}

// waits reports whether a slice is a frame that waits for another thread, by its name.
func (s *hostSet) waits(a cdg.ActID) bool {
	e := &s.y.Trace.Events[s.y.Acts[a].Event]
	if e.Kind != trace.Python {
		return false
	}
	if s.idles[e.Name] == 0 {
		s.idles[e.Name] = 1
		if cdg.WaitingFrame(s.y.Trace.Str(e.Name)) {
			s.idles[e.Name] = 2
		}
	}
	return s.idles[e.Name] == 2
}

// works reports whether a slice is a frame that does not wait for another thread: what such a frame takes is its own, as waits have frames too.
func (s *hostSet) works(a cdg.ActID) bool {
	return s.y.Trace.Events[s.y.Acts[a].Event].Kind == trace.Python && !s.waits(a)
}
