// Package reported makes traces and their reports for the tests of what shows them: of the project's own trace, and of small ones
// that have what a picture or a text has to show.
package reported

import (
	"fmt"
	"os"
	"testing"

	"overlay/internal/kineto"
	"overlay/internal/testtrace"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/traceread"
	"overlay/internal/trace"
)

// Loader is a step in which a data loader resizes images in Python before one kernel runs.
func Loader(t testing.TB) *trace.Trace {
	b := testtrace.New()
	main, stream := b.Thread(100, 100, "python"), b.Stream(0, 7)
	main.Annotation("ProfilerStep#5", 0, 1_000_000)
	main.Frame("train.py(12): train", 0, 1_000_000)
	main.Annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10_000, 300_000)
	main.Frame("data.py(7): __getitem__", 20_000, 270_000)
	main.Frame("<built-in method resize of ImagingCore object at 0x7f12ab>", 40_000, 220_000)
	main.Op("aten::linear", 400_000, 60_000)
	main.Launch("cudaLaunchKernel", 420_000, 8_000, 1)
	stream.Kernel("void gemm<float, 128>(float*)", 430_000, 350_000, 1)
	main.Call("cudaDeviceSynchronize", 500_000, 285_000, 2)
	return b.Parse(t)
}

// Streams is two streams of which one waits for the other, twice, between steps.
func Streams(t testing.TB) *trace.Trace {
	b := testtrace.New()
	main, compute, comm := b.Thread(100, 100, "python"), b.Stream(0, 7), b.Stream(0, 20)
	for i := range int64(2) {
		at, c := i*1_000_000, 10*i
		main.Annotation([]string{"ProfilerStep#0", "ProfilerStep#1"}[i], at, 990_000)
		main.Launch("cudaLaunchKernel", at+10_000, 6_000, c+1)
		compute.Kernel("gemm", at+20_000, 200_000, c+1)
		main.Call("cudaEventRecord", at+18_000, 2_000, c+2)
		main.Call("cudaStreamWaitEvent", at+22_000, 2_000, c+3)
		main.Launch("cudaLaunchKernel", at+26_000, 6_000, c+4)
		comm.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", at+222_000, 500_000, c+4)
		main.Call("cudaStreamSynchronize", at+40_000, 690_000, c+5)
	}
	return b.Parse(t)
}

// Generic is a process on an AMD card whose library has one kernel for all collectives: two all-reduces, a broadcast, and one whose launch
// was before recording began.
func Generic(t testing.TB) *trace.Trace {
	b := testtrace.New()
	main, comm := b.Thread(100, 100, "python"), b.Stream(0, 4)
	const kernel = "ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)"
	comm.Kernel(kernel, 0, 70_000, 7)
	for i, name := range []string{"allreduce", "broadcast", "allreduce"} {
		at, corr := int64(i)*100_000, int64(i)+10
		main.Op("record_param_comms", at+1_000, 20_000).Arg("Collective name", name)
		main.Annotation("nccl:"+name, at+3_000, 16_000)
		main.Launch("hipExtLaunchKernel", at+5_000, 6_000, corr)
		comm.Kernel(kernel, at+80_000, 90_000-at/10, corr)
	}
	main.Call("hipDeviceSynchronize", 250_000, 110_000, 20)
	return b.Parse(t)
}

// Shaped is a process on a known device that recorded the shapes of its operators: two steps of products and of an
// operator that the memory bounds.
func Shaped(t testing.TB) *trace.Trace {
	b := testtrace.New()
	b.NoFlows = true
	b.Device = "NVIDIA A100-SXM4-40GB"
	main, stream := b.Thread(1, 1, "python"), b.Stream(0, 7)
	at, gpu, corr := int64(0), int64(0), int64(0)
	op := func(name, dims, types, kernel string, ns int64) {
		corr++
		main.Op(name, at, 20_000).Arg("Input Dims", testtrace.Raw(dims)).Arg("Input type", testtrace.Raw(types))
		main.Launch("cudaLaunchKernel", at+5_000, 5_000, corr)
		gpu = max(gpu+1000, at+12_000)
		stream.Kernel(kernel, gpu, ns, corr)
		gpu += ns
		at += 25_000
	}
	for step := range 2 {
		start := at
		for range 3 {
			op("aten::mm", "[[4096,4096],[4096,4096]]", `["c10::BFloat16","c10::BFloat16"]`, "ampere_bf16_s16816gemm", 500_000)
			op("aten::relu", "[[100000000]]", `["float"]`, "elementwise_kernel", 600_000)
			op("my::op", "[[2,2]]", `["float"]`, "mine", 100_000)
		}
		at = gpu + 5_000
		main.Annotation(fmt.Sprintf("ProfilerStep#%d", step), start, at-start)
		at += 5_000
	}
	return b.Parse(t)
}

// Traces are the project's own trace, Loader and Streams by their names.
func Traces(t testing.TB) map[string]*trace.Trace {
	return map[string]*trace.Trace{"demo": read(t, corpus.Demo(t)), "loader": Loader(t), "streams": Streams(t)}
}

// read reads a trace file.
func read(t testing.TB, path string) *trace.Trace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := traceread.Read(f, path, kineto.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Many are traces of which text and page show every kind of number.
func Many(t testing.TB) map[string]*trace.Trace {
	out := Traces(t)
	for _, class := range []string{"ddp", "copies", "queue", "sync", "python", "graphs"} {
		var r testtrace.Run
		r.Simulate(testtrace.Random(class, 3))
		b, _ := r.Build()
		out[class] = b.Parse(t)
	}
	return out
}
