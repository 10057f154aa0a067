package advise

func init() {
	pieces := func(s *scene, name string, graphs int, mark bool) {
		for range 4 {
			s.annotate(name, 10_000, func() {
				for i := range graphs {
					s.corr++
					start := s.run(20_000)
					s.main.Launch("cudaGraphLaunch", s.host, 10_000, s.corr)
					s.host += 10_000
					s.stream.Kernel("piece", start, 20_000, s.corr)
					s.op("vllm::unified_attention_with_output", 60_000, func() {
						if e := s.launch("attention", 5_000); mark && i < graphs-1 {
							s.mark(e)
						}
					})
				}
			})
		}
	}
	cases["server-eager-islands"] = ruleCase{
		planted: []func(*scene){func(s *scene) { pieces(s, "execute_context_0(0)_generation_8(8)", 6, true) }},
		alike: []func(*scene){func(s *scene) { pieces(s, "execute_context_2(512)_generation_8(8)", 6, false) }, // prompts have no graph of one size
			func(s *scene) { pieces(s, "execute_context_0(0)_generation_8(8)", 1, false) }, func(s *scene) { pieces(s, "train", 6, false) }},
	}
}
