package advise

func init() {
	move := func(op string, dur int64, mark bool) func(*scene) {
		return func(s *scene) {
			for range 20 {
				s.work(1)
				s.op(op, 4000, func() {
					if e := s.launch("direct_copy_kernel_cuda", dur); mark {
						s.mark(e)
					}
				})
			}
		}
	}
	cases["copies-on-gpu"] = ruleCase{planted: []func(*scene){move("aten::contiguous", 60_000, true), move("aten::cat", 60_000, true)},
		alike: []func(*scene){move("aten::_to_copy", 60_000, false), move("aten::contiguous", 1_000, false)}}
	c := cases["copies-on-gpu"]
	c.planted = append(c.planted, func(s *scene) { // graphs elsewhere in the run do not excuse them
		s.graphs("CompiledFunction", false)
		s.kernels("aten::contiguous", "direct_copy_kernel_cuda", 40, true)
	})
	c.alike = append(c.alike, func(s *scene) { s.graphs("CompiledFunction", false) }) // inputs of graphs
	cases["copies-on-gpu"] = c
}
