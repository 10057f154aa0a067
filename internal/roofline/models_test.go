package roofline

import (
	"strings"
	"testing"
)

// call reads inputs as a trace has them: "float[2,3]", with strides after a slash, "half[2,3]/[0,1]"; anything else is the value
// of an input that is no tensor.
func call(name string, in ...string) *Call {
	c := &Call{Name: "aten::" + name, Strides: strings.Contains(strings.Join(in, ""), "/")}
	for _, s := range in {
		typ, shape, tensor := strings.Cut(s, "[")
		if !tensor || ElementSize(typ) == 0 {
			c.In = append(c.In, Tensor{})
			c.Concrete = append(c.Concrete, s)
			continue
		}
		shape, strides, _ := strings.Cut("["+shape, "/")
		c.In = append(c.In, Tensor{Dims: numbers(shape), Strides: numbers(strides), Type: typ, Size: ElementSize(typ)})
		c.Concrete = append(c.Concrete, "")
	}
	return c
}

// TestModels compares with counts by hand.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		call         *Call
		flops, bytes int64
	}{
		{call("mm", "float[2,3]", "float[3,5]"), 2 * 2 * 3 * 5, 4 * (6 + 15 + 10)},
		{call("bmm", "half[7,2,3]", "half[7,3,5]"), 7 * 2 * 2 * 3 * 5, 2 * 7 * (6 + 15 + 10)},
		{call("addmm", "float[5]", "float[2,3]", "float[3,5]", "1", "1"), 60, 4 * (5 + 6 + 15 + 10)},
		{call("mv", "float[4,3]", "float[3]"), 24, 4 * (12 + 3 + 4)},
		{call("_scaled_mm", "c10::Float8_e4m3fn[16,32]", "c10::Float8_e4m3fn[32,16]"), 2 * 16 * 32 * 16, 16*32 + 32*16 + 2*16*16},
		// A convolution of 8 by 8 with a kernel of 3 by 3: 6 by 6 results, 4 by 4 with stride 2 and padding 1; with dilation 2, 4 by 4.
		{call("convolution", "float[2,4,8,8]", "float[6,4,3,3]", "x", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"), 2 * 2 * 36 * 6 * 4 * 9, 4 * (2*4*64 + 6*4*9 + 2*6*36)},
		{call("convolution", "float[2,4,8,8]", "float[6,4,3,3]", "x", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"), 2 * 2 * 16 * 6 * 4 * 9, 4 * (2*4*64 + 6*4*9 + 2*6*16)},
		{call("cudnn_convolution", "float[2,4,8,8]", "float[6,4,3,3]", "[0, 0]", "[1, 1]", "[2, 2]", "1"), 2 * 2 * 16 * 6 * 4 * 9, 4 * (2*4*64 + 6*4*9 + 2*6*16)},
		// Four groups of one channel each: the weight has one channel, and each result sums over that one alone.
		{call("_conv_depthwise2d", "float[2,4,8,8]", "float[4,1,3,3]", "[3, 3]", "x", "[1, 1]", "[0, 0]", "[1, 1]"), 2 * 2 * 36 * 4 * 9, 4 * (2*4*64 + 4*9 + 2*4*36)},
		{call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]", "float[6,4,3,3]", "[6]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"), 2 * 2 * 2 * 36 * 6 * 4 * 9,
			4 * (2*(2*4*64+6*4*9) + 2*6*36)},
		{call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]", "float[6,4,3,3]", "[6]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"), 2 * 2 * 36 * 6 * 4 * 9,
			4 * (2*4*64 + 6*4*9 + 2*6*36)},
		{call("cudnn_convolution_transpose", "float[2,4,8,8]", "float[4,6,2,2]"), 2 * 2 * 64 * 4 * 6 * 4, 4 * (2*4*64 + 4*6*4)},
		// Three dimensions and one number for each argument; one result for each channel; a list that is too short; transposed by its argument alone.
		{call("convolution", "float[2,4,8]", "float[6,4,3]", "x", "[2]", "[1]", "[1]", "False"), 2 * 2 * 4 * 6 * 4 * 3, 4 * (2*4*8 + 6*4*3 + 2*6*4)},
		{call("convolution", "float[2,4,8,8]", "float[6,4,3,3]", "x", "[2]", "[1]", "[1]", "False"), 2 * 2 * 16 * 6 * 4 * 9, 4 * (2*4*64 + 6*4*9 + 2*6*16)},
		{call("convolution", "float[1,1,3]", "float[1,1,3]", "x", "[1]", "[0]", "[1]", "False"), 2 * 3, 4 * (3 + 3 + 1)},
		{call("convolution", "float[2,4,8,8,8]", "float[6,4,3,3,3]", "x", "[2, 2]", "[1, 1, 1]", "[1]", "False"), 2 * 2 * 4 * 4 * 8 * 6 * 4 * 27, 4 * (2*4*512 + 6*4*27 + 2*6*4*4*8)},
		{call("convolution", "float[2,4,8,8]", "float[4,6,2,2]", "x", "[2]", "[0]", "[1]", "True"), 2 * 2 * 64 * 4 * 6 * 4, 4 * (2*4*64 + 4*6*4)},
		{call("cudnn_convolution", "float[2,4,8,8]", "float[6,4,3,3]", "[0]", "[1]", "[1]", "1", "True"), 2 * 2 * 36 * 6 * 4 * 9, 4 * (2*4*64 + 6*4*9 + 2*6*36)},
		{call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]", "x", "x", "10", "20", "0.", "0", "False"), 2 * 3 * 10 * 20 * 16, 2 * (240 + 480 + 480 + 240)},
		{call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]", "x", "x", "10", "20", "0."), 3 * 10 * 20 * 16, 2 * (240 + 480 + 480 + 240)},
		{call("index_select", "half[10,16]", "0", "long int[3]"), 0, 2*3*16*2 + 24},
		// Attention: two products of 10 by 20 pairs, 3 heads of 8; half of them when it is causal. Four heads of K and V for twelve of Q change no count.
		{call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]", "x", "x", "10", "20", "0.", "False", "False"), 2 * 3 * 10 * 20 * 16, 2 * (240 + 480 + 480 + 240)},
		{call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]", "x", "x", "10", "20", "0.", "True", "False"), 3 * 10 * 20 * 16, 2 * (240 + 480 + 480 + 240)},
		{call("_flash_attention_forward", "half[1,10,12,8]", "half[1,20,4,8]", "half[1,20,4,8]", "x", "x", "10", "20", "0.", "False", "False"), 2 * 12 * 10 * 20 * 16, 2 * (960 + 640 + 640 + 960)},
		{call("_efficient_attention_backward", "half[1,10,3,8]", "half[1,10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]", "x", "x", "x", "x", "10", "20", "x", "0.", "0", "0", "0"), 2 * 3 * 10 * 20 * 40,
			2*2*(240+480+480+240) + 2*240},
		// What is expanded is read once, a comparison writes bytes, a number decides nothing.
		{call("add", "float[2,3]/[3,1]", "float[2,3]/[0,1]", "1"), 6, 4 * (6 + 3 + 6)},
		{call("mul", "half[5,1]/[1,1]", "half[1,7]/[7,1]"), 35, 2 * (5 + 7 + 35)},
		{call("gt", "float[8]", "float[8]"), 8, 4*16 + 8},
		{call("add", "float[8]", "double[]"), 8, 4 * 16},
		{call("sum", "float[100]"), 100, 400},
		{call("copy_", "half[10]", "float[10]"), 0, 60},
		{call("zero_", "float[10]"), 0, 40},
		{call("native_layer_norm", "half[4,8]", "[8]", "half[8]", "half[8]"), 8 * 32, 2 * 2 * 32},
		{call("_softmax", "float[4,8]", "1", "False"), 5 * 32, 2 * 4 * 32},
		{call("embedding", "half[1000,16]", "long int[3]"), 0, 2*3*16*2 + 24},
	} {
		w, ok := models[c.call.Name](c.call)
		if !ok || w.Flops != c.flops || w.Bytes != c.bytes {
			t.Errorf("%s %v: %v %+v, want %d FLOPs, %d bytes", c.call.Name, c.call.In, ok, w, c.flops, c.bytes)
		}
	}
}

// TestNoModel: inputs that do not fit give no figures rather than wrong ones.
func TestNoModel(t *testing.T) {
	for _, c := range []*Call{
		call("mm", "float[2,3]", "float[4,5]"), call("mm", "float[2,3]"), call("mm", "Something[2,3]", "Something[3,5]"), call("mm"),
		call("convolution", "float[2,4,8,8]", "float[6,4,3,3]"), call("convolution", "float[2,4,2,2]", "float[6,4,5,5]", "x", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"),
		call("_flash_attention_forward", "half[100,3,8]", "half[100,3,8]", "half[100,3,8]"), call("embedding", "half[1000]", "long int[3]"),
		call("mm", "float[3]", "float[3,5]"), call("mm", "float[2,3]", "float[]"), call("mm", "float[]", "float[3]"), call("mv", "float[4,3]", "float[4]"), call("addmm", "float[5]", "float[2,3]", "x"),
		call("convolution", "float[2,4,8,8]", "float[6,4,3]", "x", "[1]", "[0]", "[1]", "False"), call("convolution", "float[2,4]", "float[6,4]", "x", "[1]", "[0]", "[1]", "False"),
		call("convolution", "float[2,4,8,8]", "x", "x", "[1]", "[0]", "[1]", "False"), call("convolution", "float[1,1,2]", "float[1,1,3]", "x", "[1]", "[0]", "[1]", "False"),
		call("cudnn_convolution_transpose", "float[2,4,8,8]", "float[4,6,2]"), call("cudnn_convolution_transpose", "float[2,4]", "float[4,6]"), call("cudnn_convolution_transpose", "float[2,4,8,8]"),
		call("convolution_backward", "float[2,6]", "float[2,4,8,8]", "float[6,4,3,3]"), call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]", "float[6,4]"), call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]"),
		call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]", "float[5,4,3,3]"), call("convolution_backward", "float[2,6,6,6]", "float[2,4,8,8]", "float[6,4,3,3]", "[False, False, True]"),
		call("_flash_attention_forward", "half[1,10,3,8]", "half[20,3,8]", "half[1,20,3,8]"), call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]", "half[20,3,8]"),
		call("_flash_attention_forward", "half[10,3,8]", "half[1,20,3,8]", "half[1,20,3,8]"), call("_flash_attention_forward", "half[1,10,3,8]", "half[1,20,3,8]"),
		call("index_select", "half[10,16]", "1", "long int[3]"), call("embedding", "half[10,16]", "x"), call("embedding", "x", "long int[3]"), call("embedding", "half[10,16]"), call("copy_", "half[10]"), call("_softmax", "1"),
	} {
		if w, ok := models[c.Name](c); ok {
			t.Errorf("%s %v: %+v", c.Name, c.In, w)
		}
	}
	if w, _ := models["aten::mm"](call("mm", "float[9000000000,9000000000]", "float[9000000000,9000000000]")); w.Flops < 0 || w.Bytes < 0 {
		t.Errorf("shapes that no device holds: %+v", w)
	}
}

// TestForwardByBackward: where a convolution's arguments were not recorded, backward says how large its result is.
func TestForwardByBackward(t *testing.T) {
	c := call("cudnn_convolution", "float[2,4,8,8]", "float[6,4,3,3]")
	c.Concrete, c.Gradient = nil, []int64{2, 6, 4, 4}
	if w, ok := models[c.Name](c); !ok || w.Flops != 2*2*16*6*4*9 {
		t.Errorf("%v %+v", ok, w)
	}
	c.Gradient = []int64{2, 5, 4, 4} // of another one
	if w, ok := models[c.Name](c); ok {
		t.Errorf("%+v", w)
	}
}

// TestDevices: the names that profilers write find their part, and what the table says hangs together.
func TestDevices(t *testing.T) {
	for name, want := range map[string]string{"NVIDIA A100-SXM4-40GB": "A100 40GB SXM", "NVIDIA A100-SXM4-80GB": "A100 80GB SXM", "NVIDIA A100 80GB PCIe": "A100 80GB PCIe", "NVIDIA A100-PCIE-40GB": "A100 40GB PCIe",
		"NVIDIA PG509-210": "A100 80GB SXM", "NVIDIA A100-PG509-200": "A100 40GB SXM", "Tesla V100-DGXS-32GB": "V100 SXM2", "Tesla V100-PCIE-16GB": "V100 PCIe", "NVIDIA H100 80GB HBM3": "H100 SXM",
		"NVIDIA H100 PCIe": "H100 PCIe", "NVIDIA H100 NVL": "H100 NVL", "NVIDIA H200": "H200 SXM", "NVIDIA GH200 480GB": "GH200 96GB", "NVIDIA B200": "B200", "AMD Instinct MI300X VF": "MI300X", "AMD Instinct MI325X": "MI325X",
		"NVIDIA L4": "L4", "NVIDIA L40": "L40", "NVIDIA L40S": "L40S", "NVIDIA A10": "A10", "NVIDIA A10G": "A10G", "Tesla T4": "T4", "NVIDIA GeForce RTX 4090": "RTX 4090", "NVIDIA GeForce RTX 3090": "RTX 3090",
		"NVIDIA GeForce RTX 3090 Ti": "", "AMD Instinct MI308X": "", "ARTEMIS": "", "": ""} {
		got := ""
		if d := Known(name); d != nil {
			got = d.Name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if len(devices) < 25 {
		t.Errorf("%d devices", len(devices))
	}
	for i := range devices {
		d := &devices[i]
		if d.FP16 <= 0 || d.Vector <= 0 || d.GBs <= 0 || d.CacheMB <= 0 || d.FP16 < d.Vector || d.BF16 > 0 && d.BF16 != d.FP16 || d.TF32 > 0 && (d.TF32 > 0.52*d.FP16 || d.TF32 < 0.48*d.FP16) || d.FP8 > 0 && d.FP8 > 2.1*d.FP16 {
			t.Errorf("%+v does not hang together", *d)
		}
	}
	if !(Known("NVIDIA H100 80GB HBM3").BF16 > Known("A100").BF16 && Known("A100").FP16 > Known("V100").FP16) {
		t.Error("newer devices are not faster")
	}
}

// TestShapesAreRead takes the text of traces apart.
func TestShapesAreRead(t *testing.T) {
	for text, want := range map[string]int{"[[706], [32, 1377], [], []]": 4, "[[[2,3],[4]],[5]]": 2, "[]": 0, "": 0, "[[1": 0, "[[]]": 1, "]][[": 0, "[[1,2]": 1} {
		if got := list(text); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := list("[[[2,3],[4]],[5, -1]]"); len(got[0]) != 0 || len(got[1]) != 2 || got[1][1] != -1 {
		t.Errorf("%v", got)
	}
}

// TestSources: every device says which documents its figures come from, and every document is used.
func TestSources(t *testing.T) {
	used := map[string]bool{}
	for i := range devices {
		d := &devices[i]
		if len(d.from) == 0 || len(d.sources()) != len(d.from) {
			t.Errorf("%s: no source", d.Name)
		}
		for _, name := range d.from {
			used[name] = true
			if s := sheets[name]; s.Title == "" || s.Address != "" && !strings.HasPrefix(s.Address, "https://") {
				t.Errorf("%s: source %q: %+v", d.Name, name, s)
			}
		}
	}
	if len(used) != len(sheets) {
		t.Errorf("%d of %d documents are used", len(used), len(sheets))
	}
}

// TestPeaks: what products of a type reach where a device has no units for it.
func TestPeaks(t *testing.T) {
	old, new := &Device{FP16: 20, Vector: 10}, &Device{FP16: 20, BF16: 21, TF32: 15, FP8: 40, FP4: 80, FP64: 5, Vector: 10}
	for _, c := range []struct {
		d       *Device
		typ     string
		want    float64
		assumed bool
	}{
		{new, "c10::Float4_e2m1fn_x2", 80, false}, {&Device{BF16: 21, Vector: 10}, "float4", 21, false}, {old, "float4", 10, false}, {new, "c10::Float8_e5m2", 40, false}, {old, "c10::Float8_e5m2", 10, false},
		{new, "int8", 60, false}, {new, "char", 60, false}, {new, "signed char", 60, false}, {new, "c10::BFloat16", 21, false}, {old, "c10::BFloat16", 10, false}, {new, "float16", 20, false}, {new, "double", 5, false},
		{new, "float64", 5, false}, {new, "float", 15, true}, {old, "float", 10, false},
	} {
		if got, assumed := c.d.peak(c.typ, ""); got != c.want || assumed != c.assumed || c.d.Products(c.typ) != c.want {
			t.Errorf("%s of %+v: %v %v", c.typ, c.d, got, assumed)
		}
	}
}

// TestRate: shares of the peak and what they say, at the borders.
func TestRate(t *testing.T) {
	d := &Device{FP16: 100, TF32: 50, Vector: 10, GBs: 1000, CacheMB: 1, Achievable: 0.5} // of 100 FLOPs a ns and more for each byte
	for _, c := range []struct {
		typ, kernels          string
		matrix, exact         bool
		flops, bytes, ns      int64
		compute, memory, peak float64
		class                 Class
	}{
		{"half", "", true, true, 35e6, 1e3, 1000, 0.35, 0.001, 1e5, ComputeBound}, // 0.7 of what can be reached
		{"half", "", true, true, 34e6, 1e3, 1000, 0.34, 0.001, 1e5, Underused},
		{"half", "Winograd", true, true, 40e6, 1e3, 1000, -1, 0.001, 1e5, Unjudged},
		{"half", "", false, true, 8e6, 1e3, 1000, 0.8, 0.001, 1e4, ComputeBound},
		{"half", "", true, true, 10, 700e3, 1000, 1e-7, 0.7, 1e5, MemoryBound},
		{"half", "", true, true, 10, 699e3, 1000, 1e-7, 0.699, 1e5, Underused},
		{"half", "", true, true, 10, 1e6, 1000, 1e-7, 1, 1e5, MemoryBound},
		{"half", "", true, true, 10, 1_999_999, 1000, 1e-7, -1, 1e5, Unjudged}, // it fits into twice the cache
		{"half", "", true, true, 10, 2_000_000, 1000, 1e-7, 2, 1e5, MemoryBound},
		{"half", "", true, false, 10, 2_000_000, 1000, 1e-7, -1, 1e5, Unjudged},
		{"half", "", true, true, 0, 0, 1000, 0, 0, 1e5, Underused},
		{"half", "", true, true, 50e6, 500e3, 1000, 0.5, 0.5, 1e5, Underused},  // at the ridge memory decides, of which 0.7 would be near
		{"bfloat16", "", true, true, 10, 10, 1000, 1e-6, 1e-5, 1e4, Underused}, // no units for it
		{"c10::Float8_e4m3fn", "", true, true, 10, 10, 1000, 1e-6, 1e-5, 1e4, Underused},
		{"Float4", "", true, true, 10, 10, 1000, 1e-6, 1e-5, 1e4, Underused},
		{"int8", "", true, true, 10, 10, 1000, 5e-8, 1e-5, 2e5, Underused},
		{"float", "sgemm", true, true, 10, 10, 1000, 1e-6, 1e-5, 1e4, Underused},
		{"float", "TF32", true, true, 10, 10, 1000, 2e-7, 1e-5, 5e4, Underused},
		{"float", "", true, true, 10, 10, 1000, 2e-7, 1e-5, 5e4, Underused},
	} {
		r := Row{Work: Work{Flops: c.flops, Bytes: c.bytes, Matrix: c.matrix, Exact: c.exact, Type: c.typ}, NS: c.ns}
		r.rate(d, c.kernels)
		near := func(a, b float64) bool { return max(a-b, b-a) <= 1e-9 }
		if !near(r.Compute, c.compute) || !near(r.Memory, c.memory) || r.Peak != c.peak || r.Class != c.class || r.Assumed != (c.typ == "float" && c.kernels == "") {
			t.Errorf("%+v: %+v", c, r)
		}
	}
}
