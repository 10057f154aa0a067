package advise

import (
	"strings"
	"testing"

	"overlay/internal/testtrace"
)

// advice is everything that findings tell the reader to do.
func (a *Advice) advice() string {
	var all []string
	for i := range a.Findings {
		all = append(append(all, a.Findings[i].Do), a.Findings[i].Action...)
	}
	return strings.Join(all, "\n")
}

// TestCompiledIsNotCompiledAgain: whatever shows that a program is compiled, nobody is told to compile it; the same program without it is.
func TestCompiledIsNotCompiledAgain(t *testing.T) {
	slow := func(s *scene) { s.python(2_000_000, false); s.small(300, 2_000) }
	for name, mark := range map[string]func(s *scene){
		"":           func(*scene) {},
		"annotation": func(s *scene) { s.annotate("## Call CompiledFxGraph fal4xpiah2v6 ##", 1000, nothing) },
		"region":     func(s *scene) { s.op("Torch-Compiled Region: 0/0", 1000, nothing) },
		"frame of a file": func(s *scene) {
			s.slice("python_function", "/tmp/torchinductor_me/mw/cmwjlp.py(88): call", 1000, nothing)
		},
		"the compiler's call": func(s *scene) {
			s.slice("python_function", "torch/_inductor/output_code.py(465): __call__", 1000, nothing)
		},
		"generated kernel": func(s *scene) { s.kernel("aten::view", "triton_poi_fused_add_0", 2000) },
		"graph":            func(s *scene) { s.call("cudaGraphLaunch", "fused", 5000) },
		"capture":          func(s *scene) { s.call("hipStreamBeginCapture", "", 5000) },
	} {
		s := newScene()
		slow(s)
		mark(s)
		slow(s)
		a := adviseOn(t, s.b.Parse(t))
		if a.find(hostBound.id) == nil {
			t.Errorf("%q: nothing to advise on: %v below %v", name, a.ids(), a.Below)
		}
		if told := strings.Contains(a.advice(), "torch.compile"); told != (name == "") {
			t.Errorf("%q: told to compile: %v\n%s", name, told, a.advice())
		}
	}
}

// TestUnits: names of devices, and where there is none names of calls and kernels, tell what a device multiplies matrices with.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		device, call, kernel string
		want                 units
	}{
		{"NVIDIA A100-SXM4-40GB", "cudaLaunchKernel", "k", tf32Units},
		{"NVIDIA H100 80GB HBM3", "cudaLaunchKernel", "k", tf32Units},
		{"NVIDIA L4", "cudaLaunchKernel", "k", tf32Units},
		{"NVIDIA GeForce RTX 4090", "cudaLaunchKernel", "k", tf32Units},
		{"NVIDIA RTX A6000", "cudaLaunchKernel", "k", tf32Units},
		{"Tesla V100-SXM2-32GB", "cudaLaunchKernel", "k", fp16Units},
		{"Tesla T4", "cudaLaunchKernel", "k", fp16Units},
		{"NVIDIA GeForce RTX 2080 Ti", "cudaLaunchKernel", "k", fp16Units},
		{"NVIDIA TITAN RTX", "cudaLaunchKernel", "k", fp16Units},
		{"Tesla P100-PCIE-16GB", "cudaLaunchKernel", "k", fp32Units},
		{"Tesla P40", "cudaLaunchKernel", "k", fp32Units},
		{"Tesla K80", "cudaLaunchKernel", "k", fp32Units},
		{"NVIDIA GeForce GTX 1080 Ti", "cudaLaunchKernel", "k", fp32Units},
		{"AMD Instinct MI300X", "hipLaunchKernel", "k", bf16Units},
		{"", "hipLaunchKernel", "k", bf16Units},
		{"", "cudaLaunchKernel", "volta_sgemm_128x32_nn", fp16Units},
		{"", "cudaLaunchKernel", "maxwell_scudnn_128x64", fp32Units},
		{"", "cudaLaunchKernel", "ampere_sgemm_128x64_tn", tf32Units},
		{"", "urEnqueueKernelLaunch", "k", bf16Units},
	} {
		s := newScene()
		s.b.Device = c.device
		s.call(c.call, c.kernel, 5000)
		s.call(c.call, c.kernel, 5000)
		tr := s.b.Parse(t)
		g, p := testtrace.Exact(t, tr)
		if got := newRun(g, p).units()[0]; got != c.want {
			t.Errorf("%s, %s, %s: %d, want %d", c.device, c.call, c.kernel, got, c.want)
		}
	}
}

// TestBlockingIsOfARuntime: which variable makes launches wait depends on the runtime, and of others none is known.
func TestBlockingIsOfARuntime(t *testing.T) {
	for call, want := range map[string]bool{"cudaLaunchKernel": true, "hipLaunchKernel": true, "runFunction": false} {
		s := newScene()
		for range 100 {
			s.corr++
			at, start := s.host, s.run(20_000)
			s.host = s.gpu + 5000
			s.main.Launch(call, at, s.host-at, s.corr)
			s.stream.Kernel("relu", start, 20_000, s.corr)
			s.op("aten::relu", 4000, nothing)
		}
		f := adviseOn(t, s.b.Parse(t)).find(hostBound.id)
		if said := f != nil && strings.Contains(f.Action[0], "unset CUDA_LAUNCH_BLOCKING"); said != want {
			t.Errorf("%s: %v, want %v: %+v", call, said, want, f)
		}
	}
}
