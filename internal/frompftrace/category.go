package frompftrace

import "bytes"

// Render stages.
const stageCompute = 2 // category of a specification

// stageCategory is the category for a stage by its name (InternedGpuRenderStageSpecification).
func stageCategory(name []byte, compute bool) string {
	low := bytes.ToLower(name)
	has := func(s string) bool { return bytes.Contains(low, []byte(s)) }
	switch {
	case has("annotation"):
		return "gpu_user_annotation"
	case has("eventrecord"):
		return "graph_event_node"
	case has("hostnode"):
		return "graph_host_node"
	case has("memset") || has("memoryset"):
		return "gpu_memset"
	case has("memcpy") || has("transfer") || has("copy"):
		return "gpu_memcpy"
	case has("kernel") || has("compute") || compute:
		return "kernel"
	}
	return "gpu_render_stage"
}

// guessed is the category of an event that has none, by its row and its arguments. PyTorch's exporter leaves it out of records of
// synchronisation and of its own work.
func guessed(x *row, isSync bool) string {
	switch {
	case x.own && !x.added:
		return "" // the trace that was drawn has none here
	case isSync:
		return "cuda_sync"
	case x.overhead:
		return "overhead"
	case x.added:
		return "critical_path_analysis"
	}
	return ""
}
