package advise

func init() {
	grids := func(name string, dur int64, grid int, blocks float64, args map[string]any, device string, mark bool) func(*scene) {
		return func(s *scene) {
			s.b.Device = device
			for range 10 {
				s.op("aten::mm", 4000, func() {
					e := s.gridKernel(name, dur, grid, blocks)
					for _, key := range []string{"registers per thread", "shared memory"} {
						if v, ok := args[key]; ok {
							e.Arg(key, v)
						}
					}
					if mark {
						s.mark(e)
					}
				})
				s.work(1)
			}
		}
	}
	const a100 = "NVIDIA A100-SXM4-40GB"
	cases["small-grid"] = ruleCase{planted: []func(*scene){grids("gemm", 200_000, 20, 0.185, nil, a100, true)},
		alike: []func(*scene){
			grids("gemm", 200_000, 108, 1, nil, a100, false),
			grids("gemm", 8_000, 20, 0.185, nil, a100, false),
			grids("persistent_gemm", 200_000, 20, 0.185, nil, a100, false),
			grids("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 200_000, 20, 0.185, nil, a100, false),
		}}
	// 256 threads of 128 registers: two blocks a multiprocessor, so 216 blocks a wave.
	two := map[string]any{"registers per thread": 128, "shared memory": 0}
	cases["wave-tail"] = ruleCase{planted: []func(*scene){grids("gemm", 200_000, 238, 238.0/108, two, a100, true)},
		alike: []func(*scene){
			grids("gemm", 200_000, 432, 4, two, a100, false),              // two whole waves
			grids("gemm", 200_000, 200, 200.0/108, two, a100, false),      // one wave
			grids("gemm", 200_000, 2200, 2200.0/108, two, a100, false),    // so many that the last does not count
			grids("gemm", 200_000, 238, 238.0/108, two, "NVIDIA", false),  // nobody knows what a multiprocessor holds
			grids("gemm", 200_000, 238, 238.0/108, nil, a100, false),      // nor what a block takes
			grids("sm90_gemm", 200_000, 238, 238.0/108, two, a100, false), // chooses its grid itself
		}}
}
