package kineto

import "strings"

// kinds maps categories, in lower case, of all generations (libkineto/include/ActivityType.h; the first names are in
// tb_plugin, trace.py).
var kinds = map[string]Kind{
	"cpu_op": CPUOp, "operator": CPUOp, "python": CPUOp, "collective_comm": CPUOp,
	"user_annotation": Annotation,
	"python_function": Python,
	"cuda_runtime":    Runtime, "runtime": Runtime, "xpu_runtime": Runtime, "mtia_runtime": Runtime, "privateuse1_runtime": Runtime, "glow_runtime": Runtime,
	"cuda_driver": Driver, "xpu_driver": Driver, "privateuse1_driver": Driver,
	"kernel":     Kernel,
	"gpu_memcpy": Memcpy, "memcpy": Memcpy,
	"gpu_memset": Memset, "memset": Memset,
	"graph_event_node": GraphNode, "graph_host_node": GraphNode,
	"gpu_user_annotation": GPUAnnotation,
	"cuda_sync":           SyncRecord,
	"cuda_event":          EventRecord,
	"overhead":            Overhead,
	"trace":               Span, "net": Span,
	"mtia_ccp_events": DeviceOther, "mtia_insight": DeviceOther, "hpu_op": DeviceOther, "cuda_profiler_range": DeviceOther, "xpu_sync": DeviceOther,
}

// KindOf maps a category of any generation.
func KindOf(category string) Kind {
	if k, ok := kinds[category]; ok {
		return k
	}
	return kinds[strings.ToLower(category)]
}

// classOf is the class of the rows on which events of a kind lie.
func classOf(k Kind) TrackClass {
	switch {
	case k.Host():
		return HostThread
	case k.Device():
		return DeviceStream
	case k == GPUAnnotation:
		return AnnotationTrack
	case k == SyncRecord || k == EventRecord:
		return SyncTrack
	case k == Span:
		return SpanTrack
	case k == Overhead:
		return OverheadTrack
	case k == DeviceOther:
		return DeviceTrack
	}
	return OtherTrack
}

// onDevice reports whether rows of the class belong to a device.
func (c TrackClass) onDevice() bool {
	return c == DeviceStream || c == AnnotationTrack || c == SyncTrack || c == DeviceTrack
}
