package advise

import "overlay/internal/testtrace"

func init() {
	// convolutions of alternating shapes; the first ones of each launch so many kernels, and wait for each.
	convolutions := func(tries int, wait bool, shapes int, mark bool) func(*scene) {
		return func(s *scene) {
			s.work(2)
			for i := range 24 {
				start := s.host
				if i < shapes {
					for range tries {
						s.launch("conv_candidate", 300_000)
						if wait {
							s.sync("cudaEventSynchronize")
						}
					}
				}
				s.launch("conv", 100_000)
				s.host += 20_000
				dims := "[[8, 64, " + itoa(32+i%shapes) + ", 56], [64, 64, 3, 3]]"
				e := s.b.Slice("cpu_op", "aten::cudnn_convolution", 100, 100, start, s.host-start).Arg("Input Dims", testtrace.Raw(dims)).Arg("Input type", testtrace.Raw(`["float", "float"]`))
				if mark && i < shapes {
					s.mark(e)
				}
				s.work(1)
			}
		}
	}
	cases["conv-autotune"] = ruleCase{planted: []func(*scene){convolutions(15, true, 3, true)},
		alike: []func(*scene){
			convolutions(15, true, 24, false),                                          // nothing to compare with
			convolutions(2, true, 3, false),                                            // shorter than 2 ms
			func(s *scene) { s.kernels("aten::cudnn_convolution", "conv", 40, false) }, // no shapes
		}}
}
