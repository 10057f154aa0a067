package trace

import "strings"

// StepPrefix begins the name of the annotation of a profiler step; the number of the step follows.
const StepPrefix = "ProfilerStep#"

// IsStep reports whether a name is that of a profiler step.
func IsStep(name string) bool {
	digits, ok := strings.CutPrefix(name, StepPrefix)
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
