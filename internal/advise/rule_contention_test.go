package advise

func init() {
	// steps compute beside a collective of another stream, and without one; beside it each kernel takes so long.
	steps := func(alone, beside int64, collective string, mark bool) func(*scene) {
		return func(s *scene) {
			other := s.b.Stream(0, 20)
			for range 5 {
				for range 6 {
					s.op("aten::mm", 4000, func() { s.gridKernel("gemm", alone, 864, 8) })
				}
				s.corr++
				s.main.Launch("cudaLaunchKernel", s.host, 5000, s.corr)
				s.host += 5000
				start := max(s.host, s.gpu)
				s.gpu = start + 1000
				for range 6 {
					s.op("aten::mm", 4000, func() {
						if e := s.gridKernel("gemm", beside, 864, 8); mark {
							s.mark(e)
						}
					})
				}
				other.Kernel(collective, start, s.gpu-start, s.corr)
				s.gpu += 2000
			}
		}
	}
	const all = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"
	cases["contention"] = ruleCase{planted: []func(*scene){steps(100_000, 140_000, all, true)},
		alike: []func(*scene){steps(100_000, 104_000, all, false), steps(100_000, 140_000, "embedding_backward", false), steps(10_000, 14_000, all, false)}}
}
