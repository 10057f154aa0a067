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
}
