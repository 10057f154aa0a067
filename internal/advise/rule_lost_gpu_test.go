package advise

func init() {
	launches := func(every int, capture, mark bool) func(*scene) {
		return func(s *scene) {
			for i := range 300 {
				if i%every == every-1 {
					if capture {
						s.call("cudaStreamBeginCapture", "", 2000)
					}
					s.op("aten::relu", 4000, func() {
						if e := s.call("cudaLaunchKernel", "", 5000); mark {
							s.mark(e)
						}
					})
					if capture {
						s.call("cudaStreamEndCapture", "", 2000)
					}
				}
				s.work(1)
			}
		}
	}
	cases["records-lost-gpu"] = ruleCase{planted: []func(*scene){launches(20, false, true)},
		alike: []func(*scene){
			launches(20, true, false),   // captured into a graph: nothing runs
			launches(100, false, false), // a few
			func(s *scene) { // the end of the recording
				s.work(300)
				for range 20 {
					s.op("aten::relu", 4000, func() { s.call("cudaLaunchKernel", "", 5000) })
				}
			},
		}}
}
