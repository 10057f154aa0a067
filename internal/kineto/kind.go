package kineto

import (
	"strings"

	"overlay/internal/trace"
)

// kinds maps categories, in lower case, of all generations (libkineto/include/ActivityType.h; the first names are in
// tb_plugin, trace.py).
var kinds = map[string]trace.Kind{
	"cpu_op": trace.CPUOp, "operator": trace.CPUOp, "python": trace.CPUOp, "collective_comm": trace.CPUOp,
	"user_annotation": trace.Annotation,
	"python_function": trace.Python,
	"cuda_runtime":    trace.Runtime, "runtime": trace.Runtime, "xpu_runtime": trace.Runtime, "mtia_runtime": trace.Runtime, "privateuse1_runtime": trace.Runtime, "glow_runtime": trace.Runtime,
	"cuda_driver": trace.Driver, "xpu_driver": trace.Driver, "privateuse1_driver": trace.Driver,
	"kernel":     trace.Kernel,
	"gpu_memcpy": trace.Memcpy, "memcpy": trace.Memcpy,
	"gpu_memset": trace.Memset, "memset": trace.Memset,
	"graph_event_node": trace.GraphNode, "graph_host_node": trace.GraphNode,
	"gpu_user_annotation": trace.GPUAnnotation,
	"cuda_sync":           trace.SyncRecord,
	"cuda_event":          trace.EventRecord,
	"overhead":            trace.Overhead,
	"trace":               trace.Span, "net": trace.Span,
	"mtia_ccp_events": trace.DeviceOther, "mtia_insight": trace.DeviceOther, "hpu_op": trace.DeviceOther, "cuda_profiler_range": trace.DeviceOther, "xpu_sync": trace.DeviceOther,
}

// KindOf maps a category of any generation.
func KindOf(category string) trace.Kind {
	if k, ok := kinds[category]; ok {
		return k
	}
	return kinds[strings.ToLower(category)]
}
