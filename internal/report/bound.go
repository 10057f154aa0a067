package report

import (
	"cmp"

	"overlay/internal/critpath"
)

// Bound is what bounds the run in words.
func (r *Report) Bound() string { return cmp.Or(r.Path.Says, boundBy(r.Path.BoundBy)) }

// boundBy says of a class that it bounds the run.
func boundBy(class string) string {
	if class == critpath.ClassIdle.String() {
		return "mostly waiting for work"
	}
	return "bound by " + ClassWords(class)
}

// unseenLaunches counts launch calls in a trace that has no record of any device.
const unseenLaunches = "launches_without_gpu_records"

// blindShare is the share of the window from which on it is said how little of a device was recorded.
const blindShare = 0.2
