package advise

func init() {
	step := func(s *scene, name string, mark bool) {
		for range 3 {
			if e := s.slice("python_function", name, 4_000_000, nothing); mark {
				s.mark(e)
			}
			s.work(10)
		}
	}
	cases["gc"] = ruleCase{
		planted: []func(*scene){func(s *scene) { step(s, "<built-in function collect>", true) }, func(s *scene) { step(s, "gc.collect", true) }},
		alike: []func(*scene){func(s *scene) { step(s, "torch/utils/data/_utils/collate.py(12): collect_batch", false) },
			func(s *scene) { step(s, "<built-in method all_gather of gc_group>", false) }},
	}
}
