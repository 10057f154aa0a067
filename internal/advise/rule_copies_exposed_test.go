package advise

import "overlay/internal/testtrace"

func init() {
	cases["copy-h2d-exposed"] = ruleCase{
		planted: []func(*scene){func(s *scene) { s.batches(testtrace.HtoDPinned, 40<<20, 2_000_000, false, true) }},
		alike: []func(*scene){
			func(s *scene) { s.batches(testtrace.HtoDPageable, 40<<20, 2_000_000, true, false) }, // that is another finding
			func(s *scene) { // small
				for range 20 {
					s.op("aten::copy_", 4000, func() { s.copy(testtrace.HtoDPinned, 1<<10, 50_000, false) })
					s.work(1)
				}
			},
		},
	}
}
