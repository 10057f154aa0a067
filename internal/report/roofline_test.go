package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"overlay/internal/testtrace"
	"overlay/internal/trace"
)

// shapedTrace is a process on a known device that recorded the shapes of its operators: two steps of products and of an
// operator that the memory bounds.
func shapedTrace(t *testing.T) *trace.Trace {
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

// TestRooflineForms: text and page say how much of the device is used, and what to record where that is not known.
func TestRooflineForms(t *testing.T) {
	r := reports(t, "shapes", shapedTrace(t), true)["exact"]
	var text bytes.Buffer
	if err := r.WriteText(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	page := htmlOf(t, r)
	for _, want := range []string{"GPU 0 (A100 40GB SXM): work known of 91.7 % of kernel time", "824.63 GFLOP of products in bf16", "88.1 %", "compute bound aten::mm bf16", "memory bound  aten::relu fp32", "ProfilerStep#1"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{"824.63 GFLOP", "aten::mm bf16", "near the memory&#39;s bandwidth", "85.7 %"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	wholePage(t, "shapes", r)

	text.Reset()
	plain := reports(t, "streams", ownTraces(t)["streams"], true)["exact"]
	if err := plain.WriteText(&text, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "for figures: profile(record_shapes=True)") {
		t.Errorf("nothing says what to record:\n%s", text.String())
	}
	if strings.Contains(htmlOf(t, plain), "close operators come") {
		t.Error("an empty section on the page")
	}
}
