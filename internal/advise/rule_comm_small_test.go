package advise

func init() {
	// small collectives in each step, one after the other; with wait the CPU waits for each before it goes on.
	small := func(n int, bytes int64, wait, mark bool) func(*scene) {
		return func(s *scene) {
			for range 3 {
				s.work(1)
				for range n {
					s.op("c10d::allreduce_", 4000, func() {
						s.corr++
						s.main.Launch("cudaLaunchKernel", s.host, 2000, s.corr)
						start := s.run(40_000)
						s.host += 2000
						e := s.stream.Kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", start, 40_000, s.corr)
						e.Arg("Collective name", "allreduce").Arg("dtype", "Float").Arg("In msg nelems", bytes/4).Arg("Out msg nelems", bytes/4).Arg("Group size", 8)
						if mark {
							s.mark(e)
						}
					})
					if wait {
						s.sync("cudaStreamSynchronize")
					}
				}
			}
		}
	}
	cases["comm-small"] = ruleCase{planted: []func(*scene){small(40, 64<<10, false, true)},
		alike: []func(*scene){small(40, 64<<10, true, false), small(40, 8<<20, false, false), small(4, 64<<10, false, false), small(40, 0, false, false)}}
}
