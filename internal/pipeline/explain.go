package pipeline

import "overlay/internal/whatif"

// Works sums up own time, for Explain of a later run.
func (r *Run) Works() *whatif.Works { return whatif.New(r.graph).Works() }

// Explain says how much of the difference of runs, of which this is one of the later, follows from the times that things take, by name or by place in the program.
func (r *Run) Explain(before, after *whatif.Works, byPlace bool) whatif.Explanation {
	return whatif.New(r.graph).Explain(before, after, byPlace)
}
