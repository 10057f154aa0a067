package trace

// StepPrefix begins the name of the annotation of a profiler step; the number of the step follows.
const StepPrefix = "ProfilerStep#"
