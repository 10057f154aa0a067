package critpath

import (
	"regexp"

	"overlay/internal/trace"
)

// commName tells communication kernels by name: NCCL, RCCL, HCCL, oneCCL, and custom collectives.
var commName = regexp.MustCompile(`(?i)nccl|rccl|hccl|oneccl|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|sendrecv|multimem`)

// nameSet evaluates a pattern once per name, when first asked.
type nameSet struct {
	tr    *trace.Trace
	re    *regexp.Regexp
	known []uint8 // 0 not asked, 1 no, 2 yes
}

func newNameSet(tr *trace.Trace, re *regexp.Regexp) nameSet {
	return nameSet{tr, re, make([]uint8, len(tr.Syms))}
}

func (s *nameSet) has(name trace.Sym) bool {
	if s.known[name] == 0 {
		s.known[name] = 1
		if s.re.MatchString(s.tr.Str(name)) {
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
