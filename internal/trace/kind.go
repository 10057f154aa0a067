package trace

// Kind is what an event is, by its category (all generations of names, folded).
type Kind uint8

// The kinds. KindOther is the zero value: no category that Kineto writes.
const (
	KindOther     Kind = iota
	CPUOp              // cpu_op, Operator: aten ops, autograd nodes, c10d ops
	Annotation         // user_annotation: record_function, ProfilerStep#N, DataLoader
	Python             // python_function: frames, nn.Module calls, C functions
	Runtime            // cuda_runtime, xpu_runtime, mtia_runtime, privateuse1_runtime
	Driver             // cuda_driver, xpu_driver, privateuse1_driver
	Kernel             // device work: kernel
	Memcpy             // device work: gpu_memcpy
	Memset             // device work: gpu_memset
	GraphNode          // graph_event_node, graph_host_node: an operation of a CUDA graph that is neither kernel nor copy
	DeviceMark         // on a stream's row, in the device's own record: it waited there, or an event was recorded; no work
	GPUAnnotation      // gpu_user_annotation: shadow of an annotation on a stream, never in the graph
	SyncRecord         // cuda_sync: host-timed record of a wait, drawn on a device row
	EventRecord        // cuda_event
	Overhead           // overhead: the profiler's own
	Span               // Trace: profiler spans
	DeviceOther        // device rows that are drawn, not analysed
	NumKinds
)

var kindNames = [NumKinds]string{"other", "cpu_op", "annotation", "python", "runtime", "driver", "kernel", "memcpy", "memset", "graph_node", "device_mark",
	"gpu_annotation", "sync_record", "event_record", "overhead", "span", "device_other"}

func (k Kind) String() string { return kindNames[k] }

// Host reports whether events of the kind run on a CPU thread.
func (k Kind) Host() bool { return k >= CPUOp && k <= Driver }

// Device reports whether events of the kind are operations of a GPU stream.
func (k Kind) Device() bool { return k >= Kernel && k <= GraphNode }

// Call reports whether events of the kind are runtime or driver calls.
func (k Kind) Call() bool { return k == Runtime || k == Driver }
