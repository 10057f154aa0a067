package testtrace

import "slices"

// Planted is a training process in which something is wrong, and the same process without that: all other durations and
// delays are the same, so the difference of their lengths is what the cause costs.
type Planted struct {
	With, Without *Program
}

// planter writes both: the program, and how each step that belongs to the cause is without it.
type planter struct {
	h      *host
	stream int32
	cures  []func(*Program)
}

// Causes are what can be planted, by the names that advice gives them; "" plants nothing.
var Causes = []string{"data-no-workers", "sync-item", "sync-explicit", "zero-grad", "optimizer-loop", "attention-unfused", "fp32-matmul", "cold-start", "fp64",
	"data-workers-late", "gc", "sync-dynamic-size", "layout", "copies-on-gpu"}

// Plant makes a process of five steps with a cause in it.
func Plant(cause string, seed uint64) Planted {
	p := NewProgram("planted", seed, seed%3 == 0)
	g := &planter{h: p.on(p.thread(100, "python")), stream: p.stream(7)}
	// What happens once comes before what measures: a kernel that was launched long ago.
	g.layers(2)
	if cause == "cold-start" {
		g.callOf("cudaMalloc", 20_000_000, 20_000)
	}
	for range 5 {
		g.step(cause)
	}
	without := *p
	without.instrs, without.ops = slices.Clone(p.instrs), slices.Clone(p.ops)
	for _, cure := range g.cures {
		cure(&without)
	}
	return Planted{p, &without}
}

// last is the step written last.
func (g *planter) last() int32 { return int32(len(g.h.p.instrs) - 1) }

// later makes the step written last take another time without the cause.
func (g *planter) later(ns int64) {
	id := g.last()
	g.cures = append(g.cures, func(p *Program) { p.instrs[id].dur = ns })
}

// gone lets the operation launched last vanish without the cause; its call stays and takes ns, or its own time for -1.
func (g *planter) gone(ns int64) {
	id := g.last()
	g.cures = append(g.cures, func(p *Program) {
		p.instrs[id].code = opCall
		if ns >= 0 {
			p.instrs[id].dur = ns
		}
	})
}

// kernel is an operator with one kernel.
func (g *planter) kernel(op, name string, dur int64, planted func()) int32 {
	return g.h.op(op, func() {
		g.h.work(2000, 5000)
		g.h.launch(g.stream, name, dur)
		planted()
	})
}

func (g *planter) layers(n int) {
	for range n {
		g.kernel("aten::addmm", "gemm", g.h.p.between(250_000, 400_000), func() {})
		g.kernel("aten::relu", "relu", g.h.p.between(20_000, 40_000), func() {})
	}
}

func (g *planter) callOf(name string, dur, then int64) {
	g.h.call(name, dur, dur)
	g.later(then)
}

// waits is a synchronisation that is gone without the cause.
func (g *planter) waits() {
	g.h.streamSync(g.stream)
	id := g.last()
	g.cures = append(g.cures, func(p *Program) { p.instrs[id].code, p.instrs[id].dur = opCall, 2000 })
}

func (g *planter) step(cause string) {
	h, p := g.h, g.h.p
	if cause == "data-no-workers" {
		h.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", func() {
			h.work(6_000_000, 9_000_000)
			g.later(200_000)
		})
	}
	switch cause {
	case "data-workers-late":
		h.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", func() {
			h.work(4_000_000, 9_000_000)
			g.later(200_000)
		})
	case "gc":
		h.frame("<built-in function collect>", func() {
			h.work(3_000_000, 8_000_000)
			g.later(0)
		})
	}
	g.layers(6)
	switch cause {
	case "sync-item", "sync-dynamic-size":
		op := map[string]string{"sync-item": "aten::item", "sync-dynamic-size": "aten::nonzero"}[cause]
		h.op(op, func() { g.waits() })
		h.op("aten::log", func() { h.work(300_000, 500_000) })
	case "sync-explicit":
		g.waits()
		h.op("aten::log", func() { h.work(300_000, 500_000) })
	case "fp32-matmul", "fp64":
		name := map[string]string{"fp32-matmul": "ampere_sgemm_128x64_tn", "fp64": "upsample_bilinear2d_out_frame<double, double>"}[cause]
		for range 8 {
			dur := p.between(100_000, 200_000)
			g.kernel("aten::mm", name, dur, func() {
				o := int32(len(p.ops) - 1)
				g.cures = append(g.cures, func(q *Program) {
					q.ops[o].dur = map[string]int64{"fp32-matmul": dur * 2 / 5, "fp64": dur / 2}[cause]
				})
			})
		}
	case "attention-unfused":
		for range 2 {
			g.kernel("aten::bmm", "ampere_gemm", p.between(60_000, 90_000), func() {})
			for _, name := range []string{"scale", "softmax_warp_forward", "dropout"} {
				g.kernel("aten::"+name, name, p.between(60_000, 90_000), func() { g.gone(-1) })
			}
			g.kernel("aten::bmm", "ampere_gemm", p.between(60_000, 90_000), func() {})
		}
	case "layout", "copies-on-gpu":
		op, name := "aten::cudnn_convolution", "cudnn::ops::nchwToNhwcKernel<half>"
		if cause == "copies-on-gpu" {
			op, name = "aten::contiguous", "direct_copy_kernel_cuda"
		}
		for range 8 {
			g.kernel(op, name, p.between(60_000, 90_000), func() { g.gone(-1) })
			g.layers(1)
		}
	case "optimizer-loop":
		g.loop("Optimizer.step#SGD.step", "aten::add_", "add", 90, func(n int, sum int64) (host, gpu int64) {
			return 150_000 + int64(n)/3*1000, sum * 60 / 100
		})
	case "zero-grad":
		g.loop("Optimizer.zero_grad#SGD.zero_grad", "aten::zero_", "fill", 60, func(int, int64) (host, gpu int64) { return 30_000, 0 })
	}
	g.layers(3)
}

// loop is a phase with an operator for each parameter. Without the cause it takes the CPU so long in all, and the GPU one
// operation, or none.
func (g *planter) loop(phase, op, kernel string, n int, then func(n int, sum int64) (host, gpu int64)) {
	h, p := g.h, g.h.p
	first, sum := int32(len(p.instrs)), int64(0)
	h.annotate(phase, func() {
		for range n {
			dur := p.between(2_000, 5_000)
			sum += dur
			g.kernel(op, kernel, dur, func() {})
		}
	})
	limit := int32(len(p.instrs))
	host, gpu := then(n, sum)
	g.cures = append(g.cures, func(q *Program) {
		last := int32(-1)
		for i := first; i < limit; i++ {
			in := &q.instrs[i]
			switch in.code {
			case opLaunch:
				if last >= 0 {
					q.instrs[last].code = opCall
				}
				last, in.dur = i, 0
			case opWork:
				in.dur = 0
			}
		}
		q.instrs[last].dur = host
		if gpu == 0 {
			q.instrs[last].code = opCall
		} else {
			q.ops[q.instrs[last].first].dur = gpu
		}
	})
}
