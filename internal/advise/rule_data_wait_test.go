package advise

func init() {
	cases["data-wait"] = ruleCase{
		planted: []func(*scene){func(s *scene) {
			for range 4 {
				s.mark(s.annotate("## wait_for_batch ##", 5_000_000, nothing))
				s.work(10)
			}
		}},
		alike: []func(*scene){
			func(s *scene) { // a word in a longer name
				for range 4 {
					s.annotate("forward of next_batch_norm", 5_000_000, nothing)
					s.work(10)
				}
			},
			func(s *scene) { // the loader's own name says more
				for range 4 {
					s.annotate(workerName, 5_000_000, func() { s.annotate("get_batch", 4_000_000, nothing) })
					s.work(10)
				}
			},
		},
	}
}
