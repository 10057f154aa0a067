package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"overlay/internal/cdg"
	"overlay/internal/report"
	"overlay/internal/tables"
	"overlay/internal/testtrace/corpus"
	"overlay/internal/testtrace/reported"
)

// TestSums: every breakdown of the exact path sums to the window, and so do the steps.
func TestSums(t *testing.T) {
	steps := 0
	for name, tr := range reported.Many(t) {
		r := reported.ByMethod(t, name, tr, true)["exact"]
		sumsUp(t, name, r)
		steps += len(r.Steps)
	}
	if steps == 0 {
		t.Error("no trace has steps")
	}
}

// TestRealSums does the same on the real traces, where they are.
func TestRealSums(t *testing.T) {
	files := corpus.Files(t, "*.json.gz")
	looked := 0
	for _, f := range files {
		if st, err := os.Stat(f); err != nil || st.Size() > 2<<20 {
			continue
		}
		looked++
		sumsUp(t, f, reported.File(t, f, cdg.Options{}))
	}
	if looked == 0 {
		t.Error("no trace was small enough")
	}
}

func sumsUp(t *testing.T, f string, r *report.Report) {
	t.Helper()
	for name, m := range map[string]map[string]int64{"by_class": r.Path.ByClass, "by_kind": r.Path.ByKind, "by_evidence": r.Path.ByEvidence} {
		if sum(m) != r.Window.Duration {
			t.Errorf("%s: %s sums to %d, the window is %d", f, name, sum(m), r.Window.Duration)
		}
	}
	var steps, walk int64
	for _, s := range r.Steps {
		steps += s.Duration
		if sum(s.ByClass) != s.Duration {
			t.Errorf("%s: step %s sums to %d of %d", f, s.Name, sum(s.ByClass), s.Duration)
		}
	}
	if len(r.Steps) > 0 && steps != r.Window.Duration {
		t.Errorf("%s: steps sum to %d, the window is %d", f, steps, r.Window.Duration)
	}
	for _, s := range r.Path.Segments {
		walk += s.End - s.Start
	}
	if walk != r.Window.Duration {
		t.Errorf("%s: segments sum to %d, the window is %d", f, walk, r.Window.Duration)
	}
}

func sum(m map[string]int64) (n int64) {
	for _, v := range m {
		n += v
	}
	return
}

// TestTextFits: no line is longer than the width, whatever the names are.
func TestTextFits(t *testing.T) {
	r := reported.File(t, corpus.Demo(t), cdg.Options{})
	hostile := "<script>alert(1)</script>\x1b[31m\n" + strings.Repeat("x", 10_000)
	r.Hotspots[0].Name, r.Hotspots[0].Readable, r.Hotspots[0].Caller = hostile, report.Readable(hostile), hostile
	r.Steps[0].Name = hostile
	for _, width := range []int{80, 100, 120} {
		var b bytes.Buffer
		if err := r.WriteText(&b, report.TextOptions{Width: width, Walk: true}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Error("an escape reaches the terminal")
		}
		for _, l := range strings.Split(b.String(), "\n") {
			if n := len([]rune(l)); n > max(width, 100) {
				t.Errorf("width %d: a line of %d: %.120s", width, n, l)
			}
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	r := reported.File(t, corpus.Demo(t), cdg.Options{})
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back report.Report
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&back); err != nil {
		t.Fatal(err)
	}
	if back.Window != r.Window || back.Path.BoundBy != r.Path.BoundBy || len(back.Path.Segments) != len(r.Path.Segments) {
		t.Error("the report changes on its way through JSON")
	}
}

func TestReadable(t *testing.T) {
	for _, c := range [][2]string{
		{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "NCCL AllReduce Sum bf16 RING LL"},
		{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", "NCCL SendRecv RING SIMPLE Sum int8"},
		{"Cijk_Ailk_Bljk_BBS_BH_MT32x32x64_MI16x16x16x1_SN_1LDSB0_WS64_WG32_8_1_WGM16", "Cijk_Ailk_Bljk_BBS_BH 32x32x64"},
		{"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32_wt32x32x8_ws1x1_wr2x2_ta1x8x2x1_1x4x1x64_gkgs", "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1 128x128x32"},
		{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas", "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n 128x128x64"},
		{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)", "elementwise_kernel<MulFunctor>"},
		{"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl<at::native::BinaryFunctor<float, float, float, x> >(int)::{lambda(int)#1}>(int)", "elementwise_kernel<gpu_kernel_impl>"},
		{"void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float, (bool)0>(int, T2, const T1 *)", "vectorized_layer_norm_kernel<…>"},
		{"void at::native::vectorized_elementwise_kernel<(int)4, void at::native::<unnamed>::pow_tensor_scalar_kernel_impl<float, float>(at::TensorIteratorBase &, T2)::[lambda(float) (instance 1)], std::array<char *, (unsigned long)2>>(int, T2, T3)", "vectorized_elementwise_kernel<pow_tensor_scalar_kernel_impl>"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}>(int)", "vectorized_elementwise_kernel<silu_kernel>"},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)", "vectorized_elementwise_kernel<CUDAFunctor_add>"},
		{"aten::mm", "aten::mm"},
		{"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
		{"torch/nn/modules/module.py(1501): _call_impl", "torch/nn/modules/module.py(1501): _call_impl"},
		{"<built-in method resize of ImagingCore object>", "<built-in method resize of ImagingCore object>"},
		{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_nn_align4>(cutlass_80_tensorop_s1688gemm_128x64_nn_align4::Params)", "cutlass_80_tensorop_s1688gemm_128x64_nn_align4"},
		{"_ZN2ck16tensor_operation6device33kernel_batched_gemm_xdlops_updateINS_1AELi64EEEvT_", "kernel_batched_gemm_xdlops_update<…>"},
		{"_Z6scalerPfi", "scaler"},
		{"_Zebra", "_Zebra"},
		{"_ZN99x", "_ZN99x"},
	} {
		if got := report.Readable(c[0]); got != c[1] {
			t.Errorf("%q reads %q, want %q", c[0], got, c[1])
		}
	}
}

func TestCompare(t *testing.T) {
	a, b := reported.File(t, corpus.Demo(t), cdg.Options{}), reported.File(t, corpus.Demo(t), cdg.Options{Step: "1"})
	d := report.CompareRuns([]*report.Report{a}, []*report.Report{b})
	if d.Window.Effect >= 0 || d.Slower >= 0 {
		t.Errorf("one step against three: %+v", d.Window)
	}
	if same := report.CompareRuns([]*report.Report{a}, []*report.Report{a}); same.Slower != 0 || same.Window.Effect != 0 || same.Classes[0].Effect != 0 {
		t.Errorf("a report differs from itself")
	}
	back := report.CompareRuns([]*report.Report{b}, []*report.Report{a})
	if back.Window.Effect != -d.Window.Effect || len(back.Classes) != len(d.Classes) {
		t.Error("the difference is not the opposite the other way round")
	}
	for i := 1; i < len(d.Hotspots); i++ {
		if max(d.Hotspots[i].Effect, -d.Hotspots[i].Effect) > max(d.Hotspots[i-1].Effect, -d.Hotspots[i-1].Effect) {
			t.Error("hotspots are not sorted by effect")
		}
	}
}

// TestDifferenceText: the text names both sides, the verdict, and the classes and hotspots with their effect.
func TestDifferenceText(t *testing.T) {
	a, b := reported.File(t, corpus.Demo(t), cdg.Options{}), reported.File(t, corpus.Demo(t), cdg.Options{Step: "1"})
	for _, c := range []struct {
		before, after *report.Report
		want          string
	}{{a, b, "shorter"}, {b, a, "longer"}, {b, b, "as long as before"}} {
		d := report.CompareRuns([]*report.Report{c.before}, []*report.Report{c.after})
		var text, js bytes.Buffer
		if err := d.WriteText(&text, report.TextOptions{}, 3); err != nil {
			t.Fatal(err)
		}
		if err := d.WriteJSON(&js); err != nil || !json.Valid(js.Bytes()) {
			t.Fatal(err)
		}
		s := text.String()
		if !strings.Contains(s, c.want) || !strings.Contains(s, tables.Duration(c.before.Window.Duration)) || !strings.Contains(s, "GPU compute\n") {
			t.Errorf("%s", s)
		}
		_, list, headed := strings.Cut(s, "\nHotspots.")
		list, _, _ = strings.Cut(list, "\n  … ")
		listed := max(strings.Count(list, "\n")-1, 0) // without the head
		if want := map[bool]int{true: 0, false: 3}[c.before == c.after]; listed != want || headed != (want > 0) {
			t.Errorf("%d hotspots listed, want %d, in\n%s", listed, want, s)
		}
		if l := tables.Find(d.Tables(), "window").Line(0); l.Value("effect_ns").Int() != c.after.Window.Duration-c.before.Window.Duration {
			t.Errorf("the effect is %s", l.Show("effect_ns"))
		}
	}
}
