package advise

func init() {
	run := func(cat, name string, dur int64, gpu, mark bool) func(*scene) {
		return func(s *scene) {
			for range 5 {
				if e := s.slice(cat, name, dur, nothing); mark {
					s.mark(e)
				}
				if gpu {
					s.work(5)
				} else {
					s.hostOps(50)
				}
			}
		}
	}
	cases["data-parallel"] = ruleCase{planted: []func(*scene){run("cpu_op", "DataParallel.forward", 100_000, true, true)},
		alike: []func(*scene){run("cpu_op", "DistributedDataParallel.forward", 100_000, true, false)}}
	cases["gloo-on-gpu"] = ruleCase{planted: []func(*scene){run("user_annotation", "gloo:all_reduce", 3_000_000, true, true)},
		alike: []func(*scene){run("user_annotation", "gloo:barrier", 3_000_000, true, false), run("user_annotation", "gloo:all_reduce", 40_000, true, false), run("user_annotation", "gloo:all_reduce", 3_000_000, false, false)}}
}
