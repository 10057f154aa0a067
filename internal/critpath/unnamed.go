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
	named func(trace.Sym) bool // such a name
}

// NewUnnamed begins to ask for the collectives of a graph.
func NewUnnamed(g *graph.Graph) *Unnamed {
	return &Unnamed{g: g, said: g.Trace.Collectives(), named: g.Trace.ByName(func(name string) bool {
		return vendors.IsCollective(name) && vendors.OperationIn(name) == ""
	})}
}

// Collective is what is recorded of the collective of a kernel; "" where its name says it, or where nothing is recorded.
func (u *Unnamed) Collective(id trace.EventID) string {
	e := &u.g.Trace.Events[id]
	if e.Kind != trace.Kernel || !u.named(e.Name) {
		return ""
	}
	_, c := u.g.Collective(u.said, id)
	return c.Name
}
