package advise

func init() {
	serve := func(s *scene, name string, iterations int, kernel, schedule int64, mark bool) {
		for range iterations {
			s.annotate(name, 4_000, func() {
				s.kernel("aten::mm", "gemm", kernel)
				s.copy("Memcpy DtoH (Device -> Pinned)", 64, 1000, false)
				s.sync("cudaEventSynchronize")
			})
			if e := s.op("schedule", schedule, nothing); mark {
				s.mark(e)
			}
		}
		s.annotate(name, 4_000, func() { s.kernel("aten::mm", "gemm", kernel) })
	}
	cases["server-scheduler"] = ruleCase{
		planted: []func(*scene){func(s *scene) { serve(s, "step[DECODE bs=8]", 6, 200_000, 100_000, true) },
			func(s *scene) { serve(s, "execute_context_0(0)_generation_8(8)", 6, 200_000, 100_000, true) }},
		alike: []func(*scene){func(s *scene) { serve(s, "train 8", 6, 200_000, 100_000, false) }, // no server
			func(s *scene) { serve(s, "step[DECODE bs=8]", 1, 200_000, 100_000, false) },
			func(s *scene) { // the next iteration is queued while the device works
				for range 6 {
					s.annotate("step[DECODE bs=8]", 4_000, func() { s.kernel("aten::mm", "gemm", 500_000) })
					s.op("schedule", 50_000, nothing)
				}
			}},
	}
}
