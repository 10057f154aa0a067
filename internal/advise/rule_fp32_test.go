package advise

import (
	"strings"
	"testing"

	"overlay/internal/testtrace"
)

// TestTF32IsAdvisedWhereItExists: a device without TF32 is not told to use it, nor one without bf16 to use that.
func TestTF32IsAdvisedWhereItExists(t *testing.T) {
	for device, c := range map[string]struct{ has, lacks string }{
		"NVIDIA A100-SXM4-40GB": {"set_float32_matmul_precision", "-"},
		"Tesla V100-SXM2-32GB":  {"dtype=torch.float16", "set_float32"},
		"AMD Instinct MI300X":   {"bfloat16", "set_float32"},
	} {
		s := newScene()
		s.b.Device = device
		for range 10 {
			at := s.host
			s.launch("my_sgemm_128x64_tn", 1_100_000)
			s.host += 5000
			s.b.Slice("cpu_op", "aten::mm", 100, 100, at, s.host-at).Arg("Input Dims", testtrace.Raw("[[2048, 2048], [2048, 2048]]")).Arg("Input type", testtrace.Raw(`["float", "float"]`))
		}
		f := adviseOn(t, s.b.Parse(t)).find("fp32-matmul")
		if f == nil {
			t.Errorf("%s: nothing found", device)
			continue
		}
		if all := strings.Join(f.Action, " "); !strings.Contains(all, c.has) || strings.Contains(all, c.lacks) {
			t.Errorf("%s: %q, want %s and no %s", device, f.Action, c.has, c.lacks)
		}
	}
}

func init() {
	// products of 2048 x 2048 matrices of a type, as it was recorded.
	products := func(device, kernel, typ string, dur int64, mark bool) func(*scene) {
		return func(s *scene) {
			s.b.Device = device
			for range 10 {
				at := s.host
				if e := s.launch(kernel, dur); mark {
					s.mark(e)
				}
				s.host += 5000
				s.b.Slice("cpu_op", "aten::mm", 100, 100, at, s.host-at).Arg("Input Dims", testtrace.Raw("[[2048, 2048], [2048, 2048]]")).Arg("Input type", testtrace.Raw(`["`+typ+`", "`+typ+`"]`))
			}
		}
	}
	const a100, mi300 = "NVIDIA A100-SXM4-40GB", "AMD Instinct MI300X"
	cases["fp32-matmul"] = ruleCase{
		planted: []func(*scene){
			func(s *scene) { s.kernels("aten::mm", "ampere_sgemm_128x64_tn", 20, true) },
			products(a100, "ampere_sgemm_128x64_tn", "float", 1_100_000, true),
			products(mi300, "Cijk_Ailk_Bljk_S_B_MT128x128", "float", 1_000_000, true),
		},
		alike: []func(*scene){
			func(s *scene) { s.kernels("aten::mm", "ampere_s1688gemm_tf32_sgemm", 20, false) },
			func(s *scene) { s.kernels("aten::mm", "Cijk_Ailk_Bljk_S_B_MT128x128", 20, false) }, // the letter says too little
			products(a100, "my_sgemm_like", "c10::Half", 1_100_000, false),                      // the type was recorded
			products(mi300, "Cijk_Ailk_Bljk_BBS_BH_MT128x128", "c10::BFloat16", 1_000_000, false),
			products(a100, "ampere_sgemm_128x64_tn", "float", 4_000, false), // bound by its start
		}}
	cases["far-below-roofline"] = ruleCase{
		planted: []func(*scene){products(a100, "ampere_bf16_s16816gemm", "c10::BFloat16", 400_000, true)},
		alike: []func(*scene){
			products(a100, "ampere_bf16_s16816gemm", "c10::BFloat16", 90_000, false),
			products(a100, "ampere_sgemm_128x64_tn", "float", 4_000_000, false),       // a finding of its own
			products("Some Card", "bf16_s16816gemm", "c10::BFloat16", 400_000, false), // nobody knows its peaks
		}}
}
