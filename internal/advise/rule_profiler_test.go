package advise

func init() {
	ops := func(view, other int64) func(*scene) {
		return func(s *scene) {
			for range 100 {
				s.op("aten::view", view, nothing)
				s.op("aten::relu", other, func() { s.launch("relu", 2000) })
			}
		}
	}
	cases["profiler-cost"] = ruleCase{planted: []func(*scene){ops(1500, 8000)},
		alike: []func(*scene){
			ops(1500, 800_000), // too little beside what is done
			ops(20_000, 25_000),
			func(s *scene) { s.work(50) },
		}}
}
