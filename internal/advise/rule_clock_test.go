package advise

func init() {
	// heat runs the same kernels again and again; from the middle on each takes so much longer, in percent.
	heat := func(percent int64, grid func(i int) int, mark bool) func(*scene) {
		return func(s *scene) {
			for i := range 60 {
				dur := int64(200_000)
				if i >= 30 {
					dur += dur * percent / 100
				}
				s.op("aten::mm", 4000, func() {
					if e := s.gridKernel("gemm", dur, grid(i), 8); mark && i >= 30 {
						s.mark(e)
					}
				})
			}
		}
	}
	same := func(int) int { return 864 }
	cases["clock-drop"] = ruleCase{planted: []func(*scene){heat(15, same, true)},
		alike: []func(*scene){
			heat(2, same, false),
			heat(15, func(i int) int { return 800 + i/30 }, false), // more work, not a slower clock
			heat(90, func(i int) int { return 800 + i }, false),
			func(s *scene) { // a third kernel that is slower stands beside two that are not
				for i := range 60 {
					for k, name := range []string{"gemm", "other", "third"} {
						dur := int64(200_000)
						if k == 2 && i >= 30 {
							dur = 260_000
						}
						s.op("aten::mm", 4000, func() { s.gridKernel(name, dur, 864, 8) })
					}
				}
			},
		}}
}
