package advise

import "overlay/internal/testtrace"

func init() {
	// products of m x 4096 by 4096 x n, each with one kernel.
	products := func(n int, dur int64, types string, mark bool) func(*scene) {
		return func(s *scene) {
			s.b.Device = "NVIDIA A100-SXM4-40GB"
			for i := range 10 {
				columns, d := 4096, int64(600_000) // 275 GFLOP: 73 % of the peak
				if i >= 5 {
					columns, d = n, dur
				}
				s.corr++
				start, at := s.run(d), s.host
				s.main.Launch("cudaLaunchKernel", at+2000, 5000, s.corr)
				e := s.stream.Kernel("ampere_fp16_gemm", start, d, s.corr)
				if mark && i >= 5 {
					s.mark(e)
				}
				s.host += 10_000
				s.b.Slice("cpu_op", "aten::mm", 100, 100, at, 10_000).Arg("Input Dims", testtrace.Raw("[[4096, 4096], [4096, "+itoa(columns)+"]]")).
					Arg("Input type", testtrace.Raw(`["`+types+`", "`+types+`"]`))
			}
		}
	}
	cases["unaligned-matmul"] = ruleCase{planted: []func(*scene){products(4097, 1_500_000, "c10::Half", true)},
		alike: []func(*scene){
			products(4096, 1_500_000, "c10::Half", false), // slow for another reason
			products(4097, 620_000, "c10::Half", false),   // as fast as the others
			products(4097, 9_000_000, "float", false),
			products(33, 25_000, "c10::Half", false), // too narrow
		}}
}
