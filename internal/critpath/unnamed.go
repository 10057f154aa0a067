package critpath

import (
	"overlay/internal/graph"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// Unnamed finds what communication kernels do whose name does not say it, as RCCL has one kernel for all collectives. It is for one
// goroutine.
type Unnamed struct {
	g     *graph.Graph
	said  *trace.Collectives
	names []int8 // per symbol: 0 not asked, 1 such a name, -1 another one
}

// NewUnnamed begins to ask for the collectives of a graph.
func NewUnnamed(g *graph.Graph) *Unnamed {
	return &Unnamed{g: g, said: g.Trace.Collectives(), names: make([]int8, len(g.Trace.Syms))}
}

// Collective is what is recorded of the collective of a kernel; "" where its name says it, or where nothing is recorded.
func (u *Unnamed) Collective(id trace.EventID) string {
	e := &u.g.Trace.Events[id]
	if e.Kind != trace.Kernel {
		return ""
	}
	if u.names[e.Name] == 0 {
		u.names[e.Name] = -1
		if name := u.g.Trace.Str(e.Name); vendors.IsCollective(name) && vendors.OperationIn(name) == "" {
			u.names[e.Name] = 1
		}
	}
	if u.names[e.Name] < 0 {
		return ""
	}
	_, c := u.g.Collective(u.said, id)
	return c.Name
}
