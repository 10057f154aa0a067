package vendors

import "overlay/internal/trace"

// Lack is something that a trace does not hold and that its profiler may be asked to record.
type Lack uint8

// What may be lacking.
const (
	LacksShapes Lack = iota // of the inputs of operators
	LacksStacks             // of Python
	LacksWaits              // which stream a call waited for
	LacksSteps              // three steps of the program, marked
	LacksParts              // names of parts of the program
	LacksModel              // the name of the device
	LacksHost               // calls, where the device alone was recorded
	NumLacks
)

// The profilers whose files are read, as far as they are asked for different things.
const (
	PyTorch trace.Recorder = iota
	NsightSystems
	Rocprof
	XLA
	numRecorders
)

// Form is a kind of file, and the profiler that writes it.
type Form struct {
	Name string // for people
	By   trace.Recorder
}

// The kinds of files beside Kineto's JSON.
var (
	PerfettoTrace  = Form{"Perfetto trace", PyTorch}
	NsightDatabase = Form{"Nsight Systems database", NsightSystems}
	AscendDatabase = Form{"Ascend profiler database", PyTorch} // torch_npu is asked as PyTorch's profiler is
	RocpdDatabase  = Form{"rocpd database", Rocprof}
	RocprofJSON    = Form{"rocprofv3 JSON", Rocprof}
	XPlane         = Form{"XLA's xplane.pb", XLA}
)

// asked is how each profiler is asked: options of it, or marks that it takes from the program. An empty text: there is no way that is known. Sources: the documentation of
// rocprofv3 (rocm.docs.amd.com, using-rocprofv3), of Nsight Systems (docs.nvidia.com, --trace, --gpu-metrics, NVTX), of
// jax.profiler and tf.profiler (ProfilerOptions: host_tracer_level, python_tracer_level).
var asked = [numRecorders][NumLacks]string{
	PyTorch: {
		LacksShapes: "profile(record_shapes=True)",
		LacksStacks: "profile(with_stack=True), in a second, short run: stacks make each operator slower",
		LacksWaits:  "profile(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))",
		LacksSteps:  "profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=3)) and prof.step()",
		LacksParts:  "record_function(\"...\") around the parts of the loop",
		LacksModel:  "overlay --device NAME says it; a newer PyTorch writes deviceProperties",
		LacksHost:   "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
	},
	NsightSystems: {
		LacksSteps: "an NVTX range around each step, named \"step 1\", \"step 2\" and so on",
		LacksParts: "NVTX ranges around the parts of the loop: torch.cuda.nvtx.range_push(\"...\")",
		LacksHost:  "nsys profile --trace=cuda,nvtx",
	},
	Rocprof: {
		LacksSteps: "a roctx range around each step, named \"step 1\", \"step 2\" and so on, and rocprofv3 --marker-trace",
		LacksParts: "roctx ranges around the parts of the loop, and rocprofv3 --marker-trace",
		LacksHost:  "rocprofv3 --runtime-trace, in place of --kernel-trace",
	},
	XLA: {
		LacksStacks: "a python_tracer_level of 1 in the profiler's options",
		LacksSteps:  "jax.profiler.StepTraceAnnotation(\"step\", step_num=i) around each of three steps",
		LacksParts:  "jax.profiler.TraceAnnotation(\"...\") around the parts of the loop",
		LacksHost:   "a host_tracer_level of 2 in the profiler's options",
	},
}

// HowToRecord says how a profiler is made to record what is lacking; "" where no way is known.
func HowToRecord(by trace.Recorder, what Lack) string { return asked[by][what] }
