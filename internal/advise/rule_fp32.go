package advise

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/roofline"
	"overlay/internal/stat"
	"overlay/internal/trace"
)

// Parts of names of kernels: products and convolutions in fp32 without tensor cores, and what shows another type. Names of AMD's
// library do not say enough by themselves: there the type of the inputs has to be recorded too.
var (
	inFP32    = containsAny("sgemm", "ffma", "scudnn", "f32f32_f32f32", "dgrad_engine<float", "wgrad_alg0_engine<float", "gemmSN_NN_kernel<float", "gemmSN_TN_kernel<float")
	otherType = containsAny("tf32", "s1688", "s16816", "bf16", "h884", "h1688", "f16f16", "hmma", "half", "fp16", "gemv", "dot_kernel", "Cijk")
	amdGemm   = containsAny("Cijk")
	amdTF32   = containsAny("XF32", "_MX_", "_X_")
)

const (
	shortProduct = 5_000 // ns below which a product is bound by its start
	tf32Num      = 2     // a product with tensor cores takes 2/5 of the time, by what is usual
	tf32Den      = 5
	tensorShare  = 0.5  // of the peak of tensor cores, what products reach that are large enough
	memoryShare  = 0.75 // of the memory's bandwidth, what such products reach
	leastProduct = 2_000
)

var _ = add(rule{
	id: "fp32-matmul", group: Specific, torch: true, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "that tensor cores take 2/5 of the time is a usual figure, not one of this trace",
	title:    "matrix products and convolutions run in fp32 without tensor cores",
	cause:    "tensor cores are several times as fast with inputs of fewer bits",
	scenario: "each such kernel takes what half of the tensor cores' peak or three quarters of the bandwidth allow, by its shapes; without shapes 2/5 of its time",
	verify:   "names of the kernels hold tf32, bf16 or f16 in place of sgemm",
	find: func(r *run) *found {
		if len(r.ops) == 0 {
			return fp32OnCPU(r)
		}
		rows := map[cdg.ActID]*roofline.Row{}
		typed := map[cdg.ActID]string{} // what the inputs are, where that is recorded
		products := r.products()
		for i := range products {
			rows[products[i].Main] = &products[i]
			for _, k := range products[i].Kernels {
				typed[k] = strings.ToLower(products[i].Type)
			}
		}
		var list []cdg.ActID
		known, have := 0, tf32Units
		for _, a := range r.named(gpuKernel, func(s string) bool { return inFP32(s) && !otherType(s) || amdGemm(s) && !amdTF32(s) }) {
			t, ok := typed[a]
			is := t == "float" || t == "float32"
			u := r.units()[deviceOf(r, a)]
			if ok && !is || !ok && amdGemm(r.name(a)) || r.dur(a) < shortProduct || u == fp32Units {
				continue
			}
			if rows[a] != nil {
				known++
			}
			list, have = append(list, a), min(have, u)
		}
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "kernel", "kernels in fp32", "")
		f.numbers = append(f.numbers, countOf("of which shapes are known", known))
		if 2*known > len(list) {
			f.why = "kernels and shapes say what is computed; that tensor cores reach half of their peak is usual for large products"
		}
		switch have {
		case tf32Units:
			f.do = "set_float32_matmul_precision(\"high\"), allow_tf32"
			f.action = []string{"torch.set_float32_matmul_precision(\"high\") and torch.backends.cudnn.allow_tf32 = True: results change in the fourth digit", "torch.autocast(\"cuda\", dtype=torch.bfloat16)"}
		case bf16Units:
			f.do, f.action = "autocast bfloat16", []string{"torch.autocast(device_type, dtype=torch.bfloat16)"}
		default:
			f.do, f.action = "autocast float16 with GradScaler", []string{"torch.autocast(\"cuda\", dtype=torch.float16) with torch.amp.GradScaler(): the device has no TF32 and no bf16"}
		}
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return withTensorCores(r, rows[a], own) })
		return f
	},
})

const (
	bf16OnCPU  = 4         // times as fast a product of bf16 is on a CPU with units for it, at most by what was measured
	cpuProduct = 1_000_000 // ns from which on a product of the CPU is large enough for it
	productsOf = 0.2       // of the window, what products of fp32 hold on the CPU that makes their type worth a word
)

// cpuProducts are operators of the CPU that multiply matrices or convolve.
var cpuProducts = oneOf("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm", "aten::mkldnn_convolution", "aten::convolution_backward", "aten::_slow_conv2d_forward", "aten::thnn_conv2d")

// productsOnCPU lists products of the CPU with inputs of some types, none where shapes were not recorded.
func productsOnCPU(r *run, types ...string) (list []cdg.ActID) {
	meter := roofline.NewMeter(r.g)
	for _, a := range r.named(opKinds, cpuProducts) {
		if w, ok := meter.Work(a); ok && slices.Contains(types, w.Type) {
			list = append(list, a)
		}
	}
	return list
}

// fp32OnCPU is what the rule finds in a run without a device.
func fp32OnCPU(r *run) *found {
	critical, byName := int64(0), map[trace.Sym][]cdg.ActID{}
	for _, a := range productsOnCPU(r, "float", "float32") {
		byName[r.syms[a]] = append(byName[r.syms[a]], a)
	}
	var list []cdg.ActID
	for _, same := range byName {
		durs := make([]int64, len(same))
		for i, a := range same {
			durs[i] = r.dur(a)
		}
		if stat.Median(durs) >= cpuProduct { // a single long one was interrupted
			list, critical = append(list, same...), critical+r.criticalOf(same)
		}
	}
	slices.Sort(list)
	if float64(critical) < productsOf*float64(r.window) {
		return nil
	}
	f := r.about(list, "product", "products in fp32", "autocast(\"cpu\", bfloat16), if lscpu shows amx_bf16")
	f.kind, f.level, f.title, f.cause = AtMost, Low, "matrix products and convolutions of the CPU run in fp32", "units for bf16 are several times as fast, where the CPU has them"
	f.why = "whether the CPU has units for bf16 is not in the trace; without them bf16 is slower"
	f.action = []string{"where lscpu shows amx_bf16 or avx512_bf16: torch.autocast(\"cpu\", dtype=torch.bfloat16)"}
	f.change.scale(list, func(_ cdg.ActID, own int64) int64 { return own / bf16OnCPU })
	return f
}

// withTensorCores is how long a product of fp32 takes with tensor cores. By its shapes it is not better off than it was: what it
// reaches of the one peak it reaches of the other.
func withTensorCores(r *run, row *roofline.Row, own int64) int64 {
	usual := own * tf32Num / tf32Den
	if row == nil || row.Compute < 0 {
		return usual
	}
	d := r.device(row.Device)
	if d == nil || d.Vector == 0 {
		return usual
	}
	peak := d.TF32
	if r.units()[row.Device] < tf32Units {
		peak = max(d.FP16, d.BF16)
	}
	if peak <= d.Vector {
		return own
	}
	flops, bytes := float64(row.Flops)/(1000*peak*tensorShare), float64(row.Bytes)/(d.GBs*memoryShare)
	return min(own, int64(max(flops, bytes, float64(own)*d.Vector/peak, leastProduct)))
}

// gemms are words in the names of kernels that multiply matrices, or convolve.
var gemms = containsAny("gemm", "Gemm", "GEMM", "cutlass", "xmma", "Cijk", "nvjet", "matmul", "conv", "scudnn", "cudnn", "wgrad", "dgrad", "fprop")

// findProducts measures the operators that multiply matrices, with what they launched; none where shapes were not recorded.
func (r *run) findProducts() []roofline.Row {
	if !r.tr.Shapes {
		return nil
	}
	var list []cdg.ActID
	for _, a := range r.named(gpuKernel, gemms) {
		if r.kind(a) == trace.Kernel && r.dur(a) >= shortProduct {
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return slices.DeleteFunc(roofline.NewMeter(r.g).RowsOf(list), func(row roofline.Row) bool { return !row.Matrix })
}
