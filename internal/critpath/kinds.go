package critpath

import (
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// commSet tells communication kernels. Each name is looked at once, when first asked.
type commSet struct {
	tr    *trace.Trace
	known []uint8 // 0 not asked, 1 no, 2 yes
}

func newCommSet(tr *trace.Trace) commSet { return commSet{tr, make([]uint8, len(tr.Syms))} }

func (s *commSet) has(name trace.Sym) bool {
	if s.known[name] == 0 {
		s.known[name] = 1
		if vendors.IsCollective(s.tr.Str(name)) {
			s.known[name] = 2
		}
	}
	return s.known[name] == 2
}

// opKind is the segment kind of a GPU operation.
func (w *walker) opKind(id trace.EventID) SegmentKind {
	switch e := &w.tr.Events[id]; {
	case e.Kind == trace.Memcpy:
		return Memcpy
	case e.Kind == trace.Memset:
		return Memset
	case e.Kind == trace.GraphNode:
		return CPU // a callback that the GPU waits for; what only records an event takes no time
	case w.comm.has(e.Name):
		return Comm
	}
	return Compute
}
