package advise

func init() {
	run := func(name string, mark bool, when func(i int) bool) func(*scene) {
		return func(s *scene) {
			for i := range 40 {
				if when(i) {
					if e := s.call(name, "", 600_000); mark {
						s.mark(e)
					}
				}
				s.work(2)
			}
		}
	}
	cases["alloc"] = ruleCase{
		planted: []func(*scene){run("cudaFree", true, func(i int) bool { return i%2 == 0 }), run("hipMalloc", true, func(int) bool { return true })},
		alike: []func(*scene){
			run("cudaMalloc", false, func(i int) bool { return i < 12 }),   // the cache grows while the run begins
			run("cudaMalloc", false, func(i int) bool { return i%6 == 0 }), // now and then
			run("cudaFuncGetAttributes", false, func(int) bool { return true }),
		},
	}
}
