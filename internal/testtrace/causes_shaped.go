package testtrace

import "strconv"

// grid are the args of a kernel of 256 threads and 128 registers each: two blocks fit on one of the 132 multiprocessors of an H100.
func (g *planter) grid(blocks int) int32 {
	return g.h.p.say(said{"grid", Raw("[" + strconv.Itoa(blocks) + ", 1, 1]")}, said{"block", Raw("[256, 1, 1]")}, said{"blocks per SM", Raw(strconv.FormatFloat(float64(blocks)/132, 'f', 6, 64))},
		said{"registers per thread", 128}, said{"shared memory", 0})
}

// gridded is an operator with one kernel of which the grid is recorded; without the cause it takes then ns.
func (g *planter) gridded(name string, blocks int, dur, then int64) {
	says := g.grid(blocks)
	g.kernel("aten::mm", name, dur, func() {
		o := int32(len(g.h.p.ops) - 1)
		g.h.p.ops[o].says = says
		g.lasts(o, then)
	})
}

// lasts lets an operation take another time without the cause.
func (g *planter) lasts(op int32, ns int64) {
	g.cures = append(g.cures, func(p *Program) { p.ops[op].dur = ns })
}

// shapes are the args of an operator with two inputs of a type.
func (g *planter) shapes(a, b, typ string) int32 {
	return g.h.p.say(said{"Input Dims", Raw("[" + a + ", " + b + "]")}, said{"Input type", Raw(`["` + typ + `", "` + typ + `"]`)})
}

// shaped plants what shows in grids, shapes and sizes of messages. n is the number of the step.
func (g *planter) shaped(cause string, n int) {
	h, p := g.h, g.h.p
	switch cause {
	case "small-grid":
		for range 6 {
			dur := p.between(100_000, 200_000)
			g.gridded("gemm_small", 20, dur, dur/4)
		}
	case "wave-tail": // 1.1 waves
		for range 6 {
			dur := p.between(200_000, 300_000)
			g.gridded("gemm_tail", 290, dur, int64(float64(dur)*290/264/2))
		}
	case "unaligned-matmul": // of 4096 x 4096 x 4096 a device of 989.4 TFLOP/s computes 60 % of its peak in 231.5 µs
		const aligned = 231_500
		for i := range 6 {
			columns, dur := "4096", int64(aligned)
			if i%2 == 1 {
				columns, dur = "4097", p.between(450_000, 600_000)
			}
			op := g.kernel("aten::mm", "sm80_fp16_gemm", dur, func() {
				if i%2 == 1 {
					g.lasts(int32(len(p.ops)-1), aligned)
				}
			})
			p.instrs[op].says = g.shapes("[4096, 4096]", "[4096, "+columns+"]", "c10::Half")
		}
	case "clock-drop":
		for range 6 {
			dur := p.between(297_000, 303_000)
			if n >= 3 {
				g.gridded("gemm", 1056, dur*118/100, dur)
			} else {
				g.gridded("gemm", 1056, dur, dur)
			}
		}
	case "contention":
		g.contend()
	case "conv-autotune":
		g.convolutions(n)
	case "comm-small":
		g.messages()
	case "python-preprocessing":
		h.frame("transformers/image_processing_utils.py(79): normalize", func() {
			h.work(4_000_000, 9_000_000)
			g.later(0)
		})
	}
	g.layers(1)
}

// other is a second stream of the device.
func (g *planter) other() int32 {
	if len(g.h.p.Streams) == 1 {
		return g.h.p.stream(20)
	}
	return 1
}

// contend computes before a collective and beside it.
func (g *planter) contend() {
	h, p := g.h, g.h.p
	beside := g.other()
	compute := func(percent int64) {
		for range 4 {
			dur := p.between(198_000, 202_000)
			g.gridded("gemm", 1056, dur*percent/100, dur)
		}
	}
	compute(100)
	h.waitEvent(beside, h.record(g.stream))
	h.launch(beside, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", 1_100_000)
	compute(135)
	g.layers(4) // until the collective is over
}

// convolutions are all of one shape; in two steps the first tries out what is fastest.
func (g *planter) convolutions(n int) {
	h, p := g.h, g.h.p
	says := g.shapes("[8, 64, 56, 56]", "[64, 64, 3, 3]", "float")
	for i := range 3 {
		op := h.op("aten::cudnn_convolution", func() {
			h.work(2000, 5000)
			for range 12 {
				if i > 0 || n%2 == 0 {
					break
				}
				h.launch(g.stream, "conv_candidate", p.between(200_000, 400_000))
				g.gone(0)
				h.streamSync(g.stream)
				id := g.last()
				g.cures = append(g.cures, func(p *Program) { p.instrs[id].code, p.instrs[id].dur = opCall, 0 })
			}
			h.launch(g.stream, "conv_chosen", p.between(100_000, 120_000))
		})
		p.instrs[op].says = says
	}
}

// messages are small collectives that follow each other, for which the computation waits at the end. Without the cause they are one,
// which has one latency.
func (g *planter) messages() {
	h, p := g.h, g.h.p
	const n, latency = 24, 25_000
	on := g.other()
	says := p.say(said{"Collective name", "allreduce"}, said{"dtype", "Float"}, said{"In msg nelems", 16384}, said{"Out msg nelems", 16384}, said{"Group size", 8})
	h.waitEvent(on, h.record(g.stream))
	sum := int64(0)
	for i := range n {
		dur := p.between(40_000, 50_000)
		sum += dur
		h.op("c10d::allreduce_", func() {
			h.launch(on, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", dur)
			p.ops[len(p.ops)-1].says = says
			if i < n-1 {
				g.gone(-1)
				return
			}
			g.lasts(int32(len(p.ops)-1), sum-(n-1)*latency)
		})
	}
	h.waitEvent(g.stream, h.record(on))
}
