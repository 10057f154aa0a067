package pipeline

import "overlay/internal/whatif"

// Works sums up own time by name, for Explain of a later run.
func (r *Run) Works() (works map[whatif.Work]whatif.Done, window int64) {
	w := r.graph.Window
	return whatif.New(r.graph).Works(), w.End - w.Start
}

// Explain says how much of the difference to an earlier run follows from the time that names take.
func (r *Run) Explain(works map[whatif.Work]whatif.Done, window int64) whatif.Explanation {
	return whatif.New(r.graph).Explain(works, window)
}
