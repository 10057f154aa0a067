package advise

func init() {
	run := func(long int64, every int, mark bool) func(*scene) {
		return func(s *scene) {
			for i := range 300 {
				d := int64(1500)
				if i%every == every-1 {
					d = long
				}
				if e := s.op("aten::view", d, nothing); mark && d == long {
					s.mark(e)
				}
				s.op("aten::relu", 4000, func() { s.launch("relu", 2000) })
			}
		}
	}
	cases["cpu-contention"] = ruleCase{planted: []func(*scene){run(2_000_000, 30, true)},
		alike: []func(*scene){run(60_000, 30, false), run(2_000_000, 299, false), run(9_000, 1, false)}}
}
