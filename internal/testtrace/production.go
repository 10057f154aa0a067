package testtrace

import "math/rand/v2"

// Production are classes of programs as they run in production: what servers, sharded and compiled training do with
// streams, events, graphs and threads.
var Production = []string{"decode", "fsdp2", "piecewise", "ddp2", "hostfn", "alloc", "compiled", "contention", "pipeline", "offload", "pause", "serve"}

// World is what a recording makes of a program: clocks that disagree, and what gets lost.
type World struct {
	Name      string
	Calls     int64 // ns that the stamps of calls are off
	GPU       int64 // ns that the device's clock is late
	Unjoined  int   // share of operations without a correlation, %
	WholeTime bool  // stamps in whole µs
}

// Worlds are those that programs of production are recorded in; the first is as it should be.
var Worlds = []World{{Name: "exact"}, {Name: "whole stamps", WholeTime: true}, {Name: "calls early", Calls: -1500}, {Name: "calls late", Calls: 1500}, {Name: "unjoined", Unjoined: 10},
	{Name: "GPU early", GPU: -3000}, {Name: "GPU late", GPU: 8000}}

// shift is how far the stamp of an activity is off.
func (w *World) shift(p *Program, key int32) int64 {
	switch n := int32(len(p.instrs)); {
	case key >= n:
		return w.GPU
	case p.instrs[key].code != opOpen:
		return w.Calls
	}
	return 0
}

// unjoined tells whether the correlation of an operation is lost.
func (w *World) unjoined(o int) bool {
	return w.Unjoined > 0 && rand.New(rand.NewPCG(uint64(o), 3)).IntN(100) < w.Unjoined
}

// produce writes a program of a class of Production. Half of them are recorded as they should be.
func (g *generator) produce(pick *rand.Rand) {
	p := g.p
	p.World = Worlds[0]
	if pick.IntN(2) == 0 {
		p.World = Worlds[pick.IntN(len(Worlds))]
	}
	p.IntegerMicros = p.World.WholeTime
	g.compute = p.stream(7)
	g.main = p.on(p.thread(100, "python"))
	g.frames, g.steps = p.chance(40), int(p.between(2, 4))
	map[string]func(){"decode": g.decode, "fsdp2": g.fsdp2, "piecewise": g.piecewise, "ddp2": g.ddp2, "hostfn": g.hostfn, "alloc": g.alloc,
		"compiled": g.compiled, "contention": g.contention, "pipeline": g.pipelined, "offload": g.offload, "pause": g.pause, "serve": g.serve}[g.class]()
}

// eager is an op that launches kernels.
func (g *generator) eager(h *host, s int32, name string, n int, lo, hi int64) {
	h.op(name, func() {
		for range n {
			h.work(2000, 7000)
			h.launch(s, kernels[g.p.rng.IntN(len(kernels))], g.p.between(lo, hi))
			h.work(500, 2500)
		}
	})
	h.work(500, 3000)
}

// replay launches a graph: the call hands its operations over near its end.
func (g *generator) replay(h *host, main, branch int32, n int, lo, hi int64) {
	p := g.p
	h.work(1500, 6000)
	first := len(p.ops)
	h.graph(main, branch, n, func() int64 { return p.between(lo, hi) })
	in := &p.instrs[len(p.instrs)-1]
	in.dur = p.between(12_000, 40_000)
	lat := in.dur*p.between(40, 90)/100 + p.between(4000, 8000)
	for i := first; i < len(p.ops); i++ {
		p.ops[i].lat = lat
	}
	h.work(1000, 4000)
}

func (g *generator) eachStep(body func(i int)) {
	for i := range g.steps {
		g.stepStart = append(g.stepStart, int32(len(g.p.instrs)))
		g.main.annotate("ProfilerStep#"+itoa(int64(i+1)), func() { body(i) })
		g.main.work(1000, 9000)
	}
}

// decode is a server that replays a graph for each token. Half of them have a thread that waits for the tokens and hands
// them on, one step behind.
func (g *generator) decode() {
	p, m := g.p, g.main
	branch, copying := p.stream(20), p.stream(24)
	kernelsOf := int(p.between(120, 700))
	lo := p.between(1500, 4000)
	var out *host
	if p.chance(50) {
		out = p.on(p.thread(130, "output"))
	}
	g.steps = int(p.between(8, 16))
	ahead := int(p.between(0, 1)) // steps that are scheduled before the tokens of the last are there
	var ready []int32             // per step: the tokens have been handed on
	for i := range g.steps {
		m.op("schedule", func() { m.work(60_000, 300_000) })
		m.work(2000, 60_000)
		if out != nil && i > ahead {
			wait := func() { m.waitFor(ready[i-1-ahead]) }
			if g.frames {
				m.frame("queue.py(154): get", wait)
			} else {
				wait()
			}
		}
		m.op("execute_model", func() {
			m.work(10_000, 60_000)
			m.copyTo(g.compute, HtoDPinned, p.between(1500, 3000), false)
			g.replay(m, g.compute, branch, kernelsOf, lo, 2*lo)
			g.eager(m, g.compute, "sample", 3, 2000, 9000)
		})
		if out == nil {
			m.op("aten::item", func() {
				m.work(2000, 5000)
				m.copyTo(g.compute, DtoHPageable, p.between(1200, 2500), true)
				m.streamSync(g.compute)
			})
			m.op("update", func() { m.work(30_000, 150_000) })
			continue
		}
		var done int32
		m.op("async_copy", func() {
			m.work(2000, 5000)
			g.join(m, g.compute, copying)
			m.copyTo(copying, DtoHPinned, p.between(1500, 4000), false)
			done = m.record(copying)
		})
		put := p.cond()
		ready = append(ready, p.cond())
		m.signal(put)
		get := func() { out.waitFor(put) }
		if g.frames {
			out.frame("queue.py(154): get", get)
		} else {
			get()
		}
		out.op("get_output", func() {
			out.work(2000, 8000)
			out.eventSync(done)
			out.work(20_000, 120_000)
		})
		out.work(500, 20_000)
		out.signal(ready[i])
		out.work(500, 3000)
	}
	m.deviceSync()
}

// serve is a server of which a thread waits for results and hands them on, as vLLM's asynchronous scheduling has it: what goes on after
// that thread does so at once or, where another process comes between, some time later. PyTorch records ops of the thread
// that it profiles alone, so that of others often only calls are known.
func (g *generator) serve() {
	p, m := g.p, g.main
	branch, copying := p.stream(20), p.stream(24)
	out := p.on(p.thread(130, "output"))
	g.steps = int(p.between(4, 14))
	kernelsOf, lo := int(p.between(20, 300)), p.between(1500, 6000)
	ahead := int(p.between(0, 2))
	callsOnly, inAnnotation, slow := p.chance(60), p.chance(30), p.between(1, 4)
	wakes := p.between(4000, 60_000)
	if p.chance(50) {
		wakes = p.between(80_000, 500_000)
	}
	post := p.between(5_000, 120_000)
	jitter := func(ns int64) int64 { return ns * p.between(85, 120) / 100 }
	get := func(h *host, cond int32, lat int64) {
		h.waitFor(cond)
		p.instrs[len(p.instrs)-1].lat = lat
	}
	block := func(h *host, cond int32, lat int64) {
		if g.frames {
			h.frame("queue.py(154): get", func() { get(h, cond, lat) })
		} else {
			get(h, cond, lat)
		}
	}
	var ready []int32
	for i := range g.steps {
		g.stepStart = append(g.stepStart, int32(len(p.instrs)))
		wait := func() {
			if i > ahead {
				block(m, ready[i-1-ahead], jitter(wakes))
			}
		}
		if !inAnnotation {
			wait()
		}
		var done int32
		m.annotate("execute_context_0(0)_generation_8(8)", func() {
			if inAnnotation {
				wait()
				m.work(2000, 40_000)
			}
			m.op("aten::to", func() {
				m.work(20_000*slow, 60_000*slow)
				m.copyTo(g.compute, HtoDPinned, p.between(1500, 3000), false)
			})
			m.work(10_000, 60_000*slow)
			g.replay(m, g.compute, branch, kernelsOf, lo, 2*lo)
			g.eager(m, g.compute, "aten::sample", 3, 2000, 9000)
			m.op("aten::copy_", func() {
				m.work(2000, 5000)
				g.join(m, g.compute, copying)
				m.copyTo(copying, DtoHPinned, p.between(1500, 4000), false)
				done = m.record(copying)
			})
		})
		put := p.cond()
		ready = append(ready, p.cond())
		m.signal(put)
		m.work(2000, 30_000*slow)
		block(out, put, jitter(20_000))
		if callsOnly {
			out.work(2000, 8000)
			out.eventSync(done)
			out.work(post, 2*post)
		} else {
			out.op("get_output", func() {
				out.work(2000, 8000)
				out.eventSync(done)
				out.work(post, 2*post)
			})
		}
		out.signal(ready[i])
		out.work(500, 3000)
	}
	m.deviceSync()
}

// fsdp2 is training with sharded parameters: gathered ahead of their use on streams of their own, gradients scattered on
// another. Half of them hold back the host when it runs ahead by more than two gathers.
func (g *generator) fsdp2() {
	p, m := g.p, g.main
	copyIn, gather, scatter := p.stream(20), p.stream(24), p.stream(28)
	layers := int(p.between(4, 9))
	limited, scale := p.chance(50), p.between(1, 6)
	e := m
	if p.chance(75) {
		e = p.on(p.thread(101, "pt_autograd_0"))
	}
	var freed []int32 // events after which gathered parameters are free again
	unshard := func(h *host) int32 {
		if limited && len(freed) > 2 {
			h.eventSync(freed[len(freed)-3])
		}
		h.annotate("FSDP::all_gather", func() {
			if n := len(freed); n > 0 {
				h.waitEvent(copyIn, freed[n-1])
				h.waitEvent(gather, freed[n-1])
			}
			g.eager(h, copyIn, "fsdp::all_gather_copy_in", 2, 3000, 12_000*scale)
			g.join(h, copyIn, gather)
			h.op("c10d::_allgather_base_", func() {
				h.work(4000, 12_000)
				o := h.launch(gather, "ncclDevKernel_AllGather_RING_LL", p.between(20_000, 90_000)*scale)
				if p.chance(25) {
					o.extra = p.between(10_000, 150_000)
				}
			})
		})
		return h.record(gather)
	}
	copyOut := func(h *host, gathered int32) {
		h.annotate("FSDP::all_gather_copy_out", func() {
			h.waitEvent(g.compute, gathered)
			g.eager(h, g.compute, "fsdp::split_with_sizes_copy", 1, 4000, 12_000*scale)
		})
		freed = append(freed, h.record(g.compute))
	}
	g.eachStep(func(int) {
		m.op("aten::zero_grad", func() { m.work(4000, 20_000) })
		next := unshard(m)
		for i := range layers {
			gathered := next
			if i+1 < layers {
				next = unshard(m)
			}
			copyOut(m, gathered)
			g.eager(m, g.compute, "aten::linear", 3, 8000*scale, 30_000*scale)
		}
		g.eager(m, g.compute, "aten::nll_loss", 1, 2000, 6000)
		start, done := p.cond(), p.cond()
		if e != m {
			m.signal(start)
			e.waitFor(start)
		}
		next = unshard(e)
		var scattered int32 = -1
		for i := range layers {
			gathered := next
			copyOut(e, gathered)
			if i+1 < layers {
				next = unshard(e)
			}
			e.op("autograd::engine::evaluate_function: AddmmBackward0", func() { g.eager(e, g.compute, "AddmmBackward0", 3, 10_000*scale, 40_000*scale) })
			e.annotate("FSDP::post_backward_reduce", func() {
				if scattered >= 0 {
					e.waitEvent(g.compute, scattered)
				}
				g.join(e, g.compute, scatter)
				g.eager(e, scatter, "fsdp::chunk_cat", 1, 3000, 9000*scale)
				e.op("c10d::_reduce_scatter_base_", func() {
					e.work(4000, 12_000)
					o := e.launch(scatter, "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", p.between(20_000, 80_000)*scale)
					if p.chance(25) {
						o.extra = p.between(10_000, 150_000)
					}
				})
				g.eager(e, scatter, "aten::div_", 1, 2000, 5000)
				scattered = e.record(scatter)
			})
		}
		e.waitEvent(g.compute, scattered)
		if e != m {
			e.signal(done)
			m.waitFor(done)
		}
		m.annotate("Optimizer.step#AdamW.step", func() { g.eager(m, g.compute, "aten::_fused_adamw_", 2, 20_000, 80_000) })
		g.maybeItem(40)
	})
	m.deviceSync()
}

// maybeItem reads a number back.
func (g *generator) maybeItem(percent int) {
	if m := g.main; g.p.chance(percent) {
		m.op("aten::item", func() {
			m.work(2000, 5000)
			m.copyTo(g.compute, DtoHPageable, g.p.between(1200, 2500), true)
			m.streamSync(g.compute)
		})
	}
}

// piecewise is a server whose graphs leave attention out.
func (g *generator) piecewise() {
	p, m := g.p, g.main
	branch, scale := p.stream(20), p.between(1, 4)
	layers, pieces := int(p.between(6, 16)), int(p.between(4, 16))
	g.eachStep(func(int) {
		m.op("prepare", func() { m.work(20_000, 120_000) })
		for range layers {
			g.replay(m, g.compute, branch, pieces, 1500*scale, 5000*scale)
			g.eager(m, g.compute, "flash_attn::fwd", int(p.between(1, 3)), 3000*scale, 9000*scale)
		}
		g.maybeItem(100)
	})
}

// ddp2 reduces gradients on two communication streams in turns; half of the models lie on two devices.
func (g *generator) ddp2() {
	p, m := g.p, g.main
	comm := []int32{p.stream(24), p.stream(28)}
	second := g.compute
	if p.chance(50) {
		second = p.streamOn(1, 7)
		comm[1] = p.streamOn(1, 24)
	}
	layers, scale := int(p.between(4, 10)), p.between(1, 6)
	e := p.on(p.thread(101, "pt_autograd_0"))
	on := func(i int) int32 {
		if i < layers/2 {
			return g.compute
		}
		return second
	}
	cross := func(h *host, from, to int32) {
		if from != to {
			h.op("aten::copy_", func() {
				h.work(2000, 6000)
				g.join(h, to, from)
				h.launchAs("cudaMemcpyAsync", from, "gpu_memcpy", "Memcpy PtoP (Device -> Device)", p.between(4000, 40_000))
				g.join(h, from, to)
			})
		}
	}
	g.eachStep(func(int) {
		for i := range layers {
			if i > 0 {
				cross(m, on(i-1), on(i))
			}
			g.eager(m, on(i), "aten::linear", 2, 6000*scale, 25_000*scale)
		}
		start, done := p.cond(), p.cond()
		m.signal(start)
		e.waitFor(start)
		var ends []int32
		var ran []int32
		for i := layers - 1; i >= 0; i-- {
			if i < layers-1 {
				cross(e, on(i+1), on(i))
			}
			e.op("autograd::engine::evaluate_function: AddmmBackward0", func() { g.eager(e, on(i), "AddmmBackward0", 2, 8000*scale, 30_000*scale) })
			if i%2 == 0 || i == 0 {
				c := comm[(i/2)%2]
				if second != g.compute {
					c = comm[0]
					if on(i) == second {
						c = comm[1]
					}
				}
				e.op("c10d::allreduce_", func() {
					e.work(3000, 9000)
					g.join(e, on(i), c)
					o := e.launch(c, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", p.between(20_000, 70_000)*scale)
					if p.chance(40) {
						o.extra = p.between(20_000, 300_000)
					}
				})
				ends, ran = append(ends, e.record(c)), append(ran, on(i))
			}
		}
		for i, ev := range ends {
			e.waitEvent(ran[i], ev)
			g.eager(e, ran[i], "aten::copy_", 1, 2000, 8000)
		}
		e.signal(done)
		m.waitFor(done)
		m.annotate("Optimizer.step#SGD.step", func() {
			g.eager(m, g.compute, "aten::_foreach_add_", 2, 8000, 40_000)
			if second != g.compute {
				g.eager(m, second, "aten::_foreach_add_", 2, 8000, 40_000)
			}
		})
		g.maybeItem(40)
	})
	m.deviceSyncOf(second)
	m.deviceSync()
}

// layersOf is plain training, with something done after each layer.
func (g *generator) layersOf(name string, after func(i int)) {
	layers, scale := int(g.p.between(5, 12)), g.p.between(1, 8)
	g.eachStep(func(int) {
		for i := range layers {
			g.eager(g.main, g.compute, name, 2, 3000*scale, 15_000*scale)
			after(i)
		}
		g.maybeItem(50)
	})
	g.main.deviceSync()
}

// hostfn puts functions of the host into the stream, which nobody records.
func (g *generator) hostfn() {
	p, m := g.p, g.main
	g.layersOf("aten::linear", func(int) {
		if p.chance(25) {
			m.launchAs("cudaLaunchHostFunc", g.compute, "kernel", "host function", p.between(10_000, 200_000)).lost = true
			m.work(1000, 3000)
		}
	})
}

// alloc frees memory, which waits for the device and then takes its time, and takes new memory.
func (g *generator) alloc() {
	p, m := g.p, g.main
	g.layersOf("aten::linear", func(int) {
		if p.chance(25) {
			m.op("aten::empty", func() {
				m.work(2000, 5000)
				for range p.between(1, 3) {
					m.deviceSyncAs("cudaFree", 30_000, 300_000)
				}
				m.call("cudaMalloc", 60_000, 500_000)
				m.work(2000, 5000)
			})
		}
	})
}

func (h *host) deviceSyncAs(name string, lo, hi int64) {
	h.sync(opDeviceSync, name, 0, -1)
	in := &h.p.instrs[len(h.p.instrs)-1]
	in.lat = h.p.between(lo, hi)
	in.dur = in.lat
}

// compiled launches kernels by the driver from regions with few ops.
func (g *generator) compiled() {
	p, m := g.p, g.main
	side := p.stream(20)
	g.layersOf("aten::linear", func(int) {
		m.annotate("Torch-Compiled Region: 0/0", func() {
			m.op("CompiledFunction", func() {
				for range p.between(2, 8) {
					m.work(3000, 9000)
					m.launchAs("cuLaunchKernel", g.compute, "kernel", "triton_poi_fused_add_0", p.between(3000, 40_000))
				}
				m.work(2000, 5000)
				if p.chance(20) {
					g.join(m, g.compute, side)
					m.launchAs("cuLaunchKernel", side, "kernel", "triton_red_fused_1", p.between(3000, 40_000))
					g.join(m, side, g.compute)
				}
			})
		})
	})
}

// contention is two streams with kernels that fill the device: they run one after the other, though nothing orders them.
func (g *generator) contention() {
	p, m := g.p, g.main
	side := p.stream(20)
	fill := func(s int32) { m.launch(s, "gemm_f16", p.between(20_000, 120_000)).fills = true }
	g.layersOf("aten::linear", func(int) {
		m.op("aten::mm", func() {
			for range p.between(1, 3) {
				m.work(2000, 6000)
				fill(g.compute)
				m.work(2000, 6000)
				fill(side)
			}
		})
	})
}

// pipelined is a stage of a pipeline: microbatches come in and go out on a communication stream, late by what peers do.
func (g *generator) pipelined() {
	p, m := g.p, g.main
	comm, scale := p.stream(24), p.between(1, 6)
	transfer := func() {
		m.op("c10d::recv_", func() {
			m.work(3000, 9000)
			g.join(m, g.compute, comm)
			m.launch(comm, "ncclDevKernel_SendRecv", p.between(10_000, 40_000)).extra = p.between(0, 200_000)
			g.join(m, comm, g.compute)
		})
	}
	g.layersOf("aten::linear", func(int) {
		transfer()
		g.eager(m, g.compute, "aten::linear", 3, 5000*scale, 30_000*scale)
		if p.chance(50) {
			transfer()
		}
	})
}

// offload copies activations to the host beside computing, and back before their use.
func (g *generator) offload() {
	p, m := g.p, g.main
	down, up := p.stream(20), p.stream(24)
	g.layersOf("aten::linear", func(i int) {
		s, name := down, DtoHPinned
		if i%2 == 1 {
			s, name = up, HtoDPinned
		}
		g.join(m, g.compute, s)
		m.op("aten::copy_", func() {
			m.work(2000, 5000)
			m.copyTo(s, name, p.between(10_000, 200_000), false)
		})
		if s == up || p.chance(30) {
			g.join(m, s, g.compute)
		}
	})
}

// pause is training that Python's collection stops now and then.
func (g *generator) pause() {
	g.layersOf("aten::linear", func(int) {
		if g.p.chance(10) {
			g.main.work(1_000_000, 20_000_000)
		}
	})
}
