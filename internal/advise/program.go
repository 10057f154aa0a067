package advise

import (
	"regexp"
	"slices"
	"strings"

	"overlay/internal/roofline"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// program is what names alone tell of the traced program and of its devices. Rules ask here, so that no two of them differ.
type program struct {
	compiled  bool // code that a compiler generated runs, or a compiler does
	graphs    bool // captured graphs of operations are launched, or being captured
	cuda, hip bool // whose runtime is called
	torch     bool // operators or kernels of PyTorch run, or nothing says what does
	jax       bool // XLA's profiler recorded it
}

// Marks of generated code: annotations of PyTorch's compiler and of Torch-TensorRT, frames of the files that Inductor writes and of what
// calls them, and kernels named by Inductor.
var (
	compiledMarks  = containsAny("Torch-Compiled Region", "CompiledFunction", "CompiledFxGraph", "Pregraph bytecode", "tensorrt::execute_engine")
	compiledFrames = containsAny("torchinductor_", "torch/_inductor/output_code.py", "torch/_inductor/codecache.py", "torch/_inductor/compile_fx.py", "vllm/compilation/")
	capturing      = containsAny("StreamBeginCapture", "StreamEndCapture", "GraphInstantiate")
)

func (r *run) findProgram() program {
	any := func(kinds []trace.Kind, fits func(string) bool) bool {
		return slices.ContainsFunc(kinds, func(k trace.Kind) bool {
			return slices.ContainsFunc(r.names[k], func(s trace.Sym) bool { return fits(r.tr.Str(s)) })
		})
	}
	return program{
		jax: r.tr.Recorder == vendors.XLA,
		compiled: any(markKinds, func(s string) bool { return compiledMarks(s) || compiling(s) }) || any(gpuKernel, func(s string) bool { return strings.HasPrefix(s, "triton_") }) ||
			any(frameKinds, func(s string) bool { return compiledFrames(s) || compiling(s) }),
		graphs: any(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch || capturing(s) }),
		cuda:   any(callKinds, vendors.IsCUDA),
		hip:    any(callKinds, vendors.IsHIP),
		torch: any(markKinds, func(s string) bool { return strings.HasPrefix(s, "aten::") || strings.HasPrefix(s, trace.StepPrefix) }) || any(frameKinds, containsAny("torch/")) ||
			any(gpuKernel, containsAny("at::native", "c10::", "triton_")) || len(r.names[trace.CPUOp])+len(r.names[trace.Annotation])+len(r.names[trace.Python]) == 0,
	}
}

// fewerLaunches is what makes the CPU launch less often, the first first: what the program does already is not among it.
func (p program) fewerLaunches() (do string, action []string) {
	const larger = "larger batches: more work for each launch"
	switch {
	case p.jax:
		return "jax.jit around the whole step, larger batches", []string{"jax.jit around the whole step: what is called outside of it is sent to the device operation by operation",
			"jax.lax.scan or fori_loop in place of loops in Python", larger}
	case p.graphs:
		return "one graph in place of several, or larger batches", []string{"one graph in place of several: what runs between two graphs is launched one by one (vLLM: cudagraph_mode FULL_AND_PIECEWISE)", larger}
	case p.compiled && (p.cuda || p.hip):
		return "fewer graph breaks (TORCH_LOGS), CUDA graphs", []string{"TORCH_LOGS=graph_breaks says what runs outside of compiled code", "mode=\"reduce-overhead\" where the model is compiled: its kernels become CUDA graphs", larger}
	case p.compiled:
		return "fewer graph breaks (TORCH_LOGS), larger batches", []string{"TORCH_LOGS=graph_breaks says what runs outside of compiled code", larger}
	case p.cuda || p.hip:
		return "torch.compile, CUDA graphs, larger batches", []string{"torch.compile(model, mode=\"reduce-overhead\")", "torch.cuda.make_graphed_callables, or a CUDA graph of the step", larger}
	}
	return "torch.compile, larger batches", []string{"torch.compile(model)", larger}
}

// orCompile is an action with the advice to compile in front of it, where nothing is compiled.
func (p program) orCompile(action ...string) []string {
	if p.compiled || p.graphs {
		return action
	}
	return append([]string{"torch.compile(model)"}, action...)
}

// units is what a device has for products of matrices beside fp32.
type units int

const (
	fp32Units units = iota
	fp16Units
	bf16Units
	tf32Units // and those above
)

// oldKernels is how kernels begin that NVIDIA's libraries have for devices without TF32.
var oldKernels = []string{"volta_", "turing_", "maxwell_", "pascal_"}

// Generations of NVIDIA's devices by their names, or by how their libraries' kernels begin, that came before TF32: V100 and Turing multiply
// fp16, older ones have no matrix units. NVIDIA wrote Tesla before the name of devices up to T4, none of which has TF32.
var (
	withFP16 = regexp.MustCompile(`V100|\bT4\b|T4G|TITAN (V|RTX)|RTX 20|Quadro RTX|GTX 16|^volta_|^turing_`).MatchString
	withFP32 = regexp.MustCompile(`^Tesla|GTX|P100|\bP40?\b|\bK[48]0\b|\bM[46]0\b|TITAN|Quadro|^maxwell_|^pascal_`).MatchString
	ofAMD    = regexp.MustCompile(`Instinct|Radeon|\bgfx\d`).MatchString
)

func (r *run) findUnits() map[int64]units {
	of := map[int64]units{}
	for i := range r.tr.Procs {
		d := r.tr.Procs[i].Device
		if _, ok := of[d]; !ok {
			of[d] = unitsOf(r, d)
		}
	}
	return of
}

// unitsOf is what the device with a number multiplies matrices with. Where its name is not recorded, calls and kernels tell the maker and the
// generation; without any of them it counts as new.
func unitsOf(r *run, device int64) units {
	name := r.tr.DeviceNames[device]
	if d := roofline.Of(r.tr, device); name == "" && d != nil {
		name = d.Name
	}
	if name == "" {
		for _, s := range r.names[trace.Kernel] {
			if k := r.tr.Str(s); slices.ContainsFunc(oldKernels, func(p string) bool { return strings.HasPrefix(k, p) }) {
				name = k
				break
			}
		}
	}
	switch p := r.program(); {
	case name == "" && !p.cuda && p.hip, ofAMD(name), name != "" && strings.HasPrefix(name, "MI"):
		return bf16Units
	case !p.cuda && !p.hip && len(r.names[trace.Runtime]) > 0:
		return bf16Units // neither maker's: what else there is has matrix units of 16 bits
	case withFP16(name):
		return fp16Units
	case withFP32(name):
		return fp32Units
	}
	return tf32Units
}
