package advise

import (
	"fmt"

	"overlay/internal/testtrace"
)

func init() {
	decode := func(s *scene, name string, rows, columns int64, mark bool) {
		s.b.Device = "NVIDIA H100 80GB HBM3"
		for range 3 {
			s.annotate(name, 4_000, func() {
				for range 10 {
					op := s.op("aten::mm", 4_000, func() {
						if e := s.launch("gemm", 100_000); mark {
							s.mark(e)
						}
					})
					op.Arg("Input Dims", testtrace.Raw(fmt.Sprintf("[[%d, 8192], [8192, %d]]", rows, columns))).Arg("Input type", testtrace.Raw(`["c10::BFloat16", "c10::BFloat16"]`))
				}
			})
		}
	}
	cases["decode-memory-bound"] = ruleCase{
		planted: []func(*scene){func(s *scene) { decode(s, "step[DECODE bs=8]", 8, 8192, true) }, func(s *scene) { decode(s, "generate", 8, 8192, true) }},
		alike: []func(*scene){func(s *scene) { decode(s, "step[EXTEND bs=1 toks=8]", 8, 8192, false) }, func(s *scene) { decode(s, "generate", 8, 2048, false) }, func(s *scene) { decode(s, "train", 4096, 8192, false) },
			func(s *scene) { decode(s, "step[DECODE bs=4096]", 4096, 1024, false) }},
	}
}
