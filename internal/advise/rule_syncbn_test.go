package advise

func init() {
	norms := func(name string, mark bool) func(*scene) {
		return func(s *scene) {
			for range 10 {
				s.work(3)
				s.op(name, 10_000, func() {
					if e := s.launch("ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", 60_000); mark {
						s.mark(e)
					}
				})
			}
			s.work(1)
		}
	}
	cases["sync-batchnorm"] = ruleCase{planted: []func(*scene){norms("SyncBatchNorm", true)},
		alike: []func(*scene){norms("c10d::_allgather_base_", false), func(s *scene) { s.kernels("aten::batch_norm_gather_stats", "batch_norm_reduce", 10, false) }}}
}
