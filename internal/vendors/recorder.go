package vendors

import "strings"

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

// recorder is how one profiler is asked: options of it, or marks that it takes from the program. An empty text: there is no way that is known.
type recorder struct {
	forms []string // starts of what readers call its files
	ask   [NumLacks]string
}

// recorders are all but PyTorch's own, which is the first and the one for files that say nothing of their writer. Sources: the documentation of
// rocprofv3 (rocm.docs.amd.com, using-rocprofv3), of Nsight Systems (docs.nvidia.com, --trace, --gpu-metrics, NVTX), of
// jax.profiler and tf.profiler (ProfilerOptions: host_tracer_level, python_tracer_level).
var recorders = []recorder{
	{nil, [NumLacks]string{
		LacksShapes: "profile(record_shapes=True)",
		LacksStacks: "profile(with_stack=True), in a second, short run: stacks make each operator slower",
		LacksWaits:  "profile(experimental_config=torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True))",
		LacksSteps:  "profile(schedule=torch.profiler.schedule(wait=1, warmup=2, active=3)) and prof.step()",
		LacksParts:  "record_function(\"...\") around the parts of the loop",
		LacksModel:  "a newer PyTorch, which writes deviceProperties",
		LacksHost:   "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
	}},
	{[]string{"Nsight Systems"}, [NumLacks]string{
		LacksSteps: "an NVTX range around each step, named \"step 1\", \"step 2\" and so on",
		LacksParts: "NVTX ranges around the parts of the loop: torch.cuda.nvtx.range_push(\"...\")",
		LacksHost:  "nsys profile --trace=cuda,nvtx",
	}},
	{[]string{"rocprofv3", "rocpd"}, [NumLacks]string{
		LacksSteps: "a roctx range around each step, named \"step 1\", \"step 2\" and so on, and rocprofv3 --marker-trace",
		LacksParts: "roctx ranges around the parts of the loop, and rocprofv3 --marker-trace",
		LacksHost:  "rocprofv3 --runtime-trace, in place of --kernel-trace",
	}},
	{[]string{"XLA"}, [NumLacks]string{
		LacksStacks: "a python_tracer_level of 1 in the profiler's options",
		LacksSteps:  "jax.profiler.StepTraceAnnotation(\"step\", step_num=i) around each of three steps",
		LacksParts:  "jax.profiler.TraceAnnotation(\"...\") around the parts of the loop",
		LacksHost:   "a host_tracer_level of 2 in the profiler's options",
	}},
}

// HowToRecord says how the profiler that wrote a trace of a form is made to record what is lacking; "" where no way is known.
func HowToRecord(form string, what Lack) string { return recorderOf(form).ask[what] }

// FromTorch reports whether a trace of a form is of PyTorch's profiler, as far as is known.
func FromTorch(form string) bool { return recorderOf(form) == &recorders[0] }

func recorderOf(form string) *recorder {
	for i := range recorders {
		for _, start := range recorders[i].forms {
			if strings.HasPrefix(form, start) {
				return &recorders[i]
			}
		}
	}
	return &recorders[0]
}
