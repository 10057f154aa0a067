package frompftrace

import (
	"bytes"

	"overlay/internal/trace"
)

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

// seen are the arguments that tell what an event without a category is.
type seen uint8

const (
	seenSyncKind seen = 1 << iota
	seenCallback      // cbid
	seenPython
	seenLaunch // grid, registers
	seenCopy
	seenCorrelation
)

// guessed is the category of an event that has none, by its row, its arguments and its name. The first versions of
// PyTorch's exporter wrote no categories: bare says that the whole trace has none.
func guessed(x *row, s seen, name []byte, bare bool) string {
	switch {
	case x.own && !x.added:
		return "" // the trace that was drawn has none here
	case s&seenSyncKind != 0:
		return "cuda_sync"
	case x.guess == overheadRow:
		return "overhead"
	case x.added:
		return "critical_path_analysis"
	case x.guess == gpuRow:
		switch {
		case bytes.HasPrefix(name, []byte("Memset")):
			return "gpu_memset"
		case bytes.HasPrefix(name, []byte("Memcpy")) || s&seenCopy != 0:
			return "gpu_memcpy"
		case s&(seenLaunch|seenCorrelation) != 0:
			return "kernel"
		}
		return "gpu_user_annotation"
	case s&seenCallback != 0:
		if bytes.HasPrefix(name, []byte("cuda")) {
			return "cuda_runtime"
		}
		return "cuda_driver"
	case s&seenPython != 0:
		return "python_function"
	case bytes.HasPrefix(name, []byte(trace.StepPrefix)):
		return "user_annotation"
	case x.numbers || !bare:
		return "" // a row that is no thread, or a trace that has categories where it wants them
	}
	return "cpu_op"
}
