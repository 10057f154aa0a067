package pipeline

import "overlay/internal/whatif"

// Works sums up own time, for Explain of a later run.
func (r *Run) Works() *whatif.Works { return whatif.New(r.graph).Works() }

// Explain says how much of the difference to an earlier run follows from the times that things take, by name or by place in the program.
func (r *Run) Explain(before *whatif.Works, byPlace bool, stepsBefore, stepsAfter int64) whatif.Explanation {
	return whatif.New(r.graph).Explain(before, byPlace, stepsBefore, stepsAfter)
}
