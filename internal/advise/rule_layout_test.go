package advise

func init() {
	// device is a trace without operators: one kernel, then transposes.
	device := func(beside string, mark bool) func(*scene) {
		return func(s *scene) {
			for range 20 {
				s.launch(beside, 100_000)
				if e := s.launch("batched_transpose_16x64_pack_1x4_half", 50_000); mark {
					s.mark(e)
				}
				s.launch("batch_norm", 20_000)
			}
		}
	}
	c := cases["layout"]
	c.planted = append(c.planted, device("igemm_fwd_gtcx2_nhwc_bf16", true))
	c.alike = append(c.alike, device("Cijk_Ailk_Bljk_BBS", false))
	cases["layout"] = c
}
