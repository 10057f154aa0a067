package pipeline

import "overlay/internal/ranks"

// Exact is the path of a job on the rank of a run, event by event.
func (r *Run) Exact(j *ranks.Job, member int32) *ranks.Exact {
	return j.Exact(member, r.graph, r.Trace.Base)
}
