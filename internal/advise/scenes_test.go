package advise

import (
	"fmt"

	"overlay/internal/testtrace"
)

// syncCase is a value that is read back in an operator, planted; alike is a run in which the GPU is far behind anyway, so
// that waiting costs nothing.
func syncCase(op string, copies bool) ruleCase {
	wait := func(s *scene) *testtrace.Event {
		if copies {
			return s.waitIn(op)
		}
		var e *testtrace.Event
		s.op(op, 4000, func() { e = s.sync("cudaStreamSynchronize") })
		return e
	}
	return ruleCase{
		planted: []func(*scene){func(s *scene) {
			for range 10 {
				s.work(1)
				s.mark(wait(s))
				s.hostOps(10)
			}
			s.work(1)
		}},
		alike: []func(*scene){func(s *scene) { // the GPU is the limit: waiting for it gains nothing
			s.work(1)
			for range 10 {
				s.kernel("aten::mm", "gemm", 20_000_000)
			}
			wait(s)
			s.work(1)
		}, func(s *scene) {
			for range 10 {
				s.work(1)
				s.op("aten::relu", 4000, func() { s.op("aten::other", 2000, nothing) })
				s.hostOps(10)
			}
		}},
	}
}

// waitIn copies a value back in an operator and waits for it. The wait's call is the event.
func (s *scene) waitIn(op string) *testtrace.Event {
	var call *testtrace.Event
	s.op(op, 4000, func() {
		s.corr++
		start := s.run(1000)
		at := s.host
		s.host = s.gpu + 4000
		call = s.main.Launch("cudaMemcpyAsync", at, s.host-at, s.corr)
		s.stream.Memcpy(testtrace.DtoHPageable, start, 1000, s.corr).Arg("bytes", 4)
	})
	return call
}

// hostOps is work of the CPU between launches.
func (s *scene) hostOps(n int) {
	for range n {
		s.op("aten::relu", 10_000, nothing)
	}
}

// batches copies one batch a step.
func (s *scene) batches(name string, bytes, dur int64, waits, mark bool) {
	for range 5 {
		s.op("aten::copy_", 4000, func() {
			if e := s.copy(name, bytes, dur, waits); mark {
				s.mark(e)
			}
		})
		s.work(5)
	}
	s.copy(testtrace.HtoDPinned, 1<<20, 50_000, false)
	s.work(1)
}

// values puts small values on the device, one by one.
func (s *scene) values(n int, waits bool) {
	for range n {
		s.work(1)
		s.op("aten::to", 10_000, func() {
			s.op("aten::copy_", 4000, func() {
				s.corr++
				start := s.run(1000)
				at := s.host
				s.host += 6000
				if waits {
					s.host = s.gpu + 4000
				}
				call := s.main.Launch("cudaMemcpyAsync", at, s.host-at, s.corr)
				copied := s.stream.Memcpy(testtrace.HtoDPageable, start, 1000, s.corr).Arg("bytes", 64)
				if n < fewCopies {
					s.mark(call)
				} else {
					s.mark(copied)
				}
			})
		})
		s.hostOps(3)
	}
}

// events waits for an event in each step.
func (s *scene) events() {
	for range 10 {
		s.work(1)
		s.corr++
		s.main.Call("cudaEventRecord", s.host, 2000, s.corr)
		s.host += 3000
		s.sync("cudaEventSynchronize")
		s.hostOps(10)
	}
	s.work(1)
}

// norms exchange their statistics.
func (s *scene) norms(name string) {
	for i := range 10 {
		s.work(3)
		s.op(name, 10_000, func() {
			if e := s.launch("ncclDevKernel_AllGather_RING_LL(ncclDevComm*)", 60_000); i > 0 {
				s.mark(e)
			}
		})
	}
	s.work(1)
}

// call is a call of the runtime; with a kernel it launches it.
func (s *scene) call(name, kernel string, dur int64) *testtrace.Event {
	s.corr++
	at := s.host
	s.host += dur
	if kernel == "" {
		return s.main.Call(name, at, dur, s.corr)
	}
	start := s.run(10_000)
	call := s.main.Launch(name, at, dur, s.corr)
	s.stream.Kernel(kernel, start, 10_000, s.corr)
	return call
}

// optimizer has some steps of an optimizer with some operators each.
func (s *scene) optimizer(class, op, kernel string, n int, mark bool) {
	for range 3 {
		s.work(5)
		e := s.annotate("Optimizer.step#"+class+".step", 20_000, func() {
			for range n {
				s.kernel(op, kernel, 4_000)
			}
		})
		if mark {
			s.mark(e)
		}
	}
}

// attention computes products around a softmax.
func (s *scene) attention(product, softmax string) {
	for range 6 {
		s.kernel(product, "ampere_gemm", 50_000)
		for _, name := range []string{"scale", "mask", softmax, "dropout"} {
			s.kernel("aten::"+name, name, 40_000)
		}
		s.kernel(product, "ampere_gemm", 50_000)
	}
}

// allReduce has a collective at the end of each step, of so many bytes; with 0 its size is not recorded.
func (s *scene) allReduce(dur, bytes int64, mark bool) {
	for i := range 6 { // the first is no evidence
		s.work(20)
		s.op("c10d::allreduce_", 4000, func() {
			e := s.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)", dur)
			if bytes > 0 {
				e.Arg("Collective name", "allreduce").Arg("dtype", "Float").Arg("In msg nelems", bytes/4).Arg("Out msg nelems", bytes/4).Arg("Group size", 8)
			}
			if mark && i > 0 {
				s.mark(e)
			}
		})
	}
}

// allToAll exchanges pieces, with nothing beside it.
func (s *scene) allToAll(dur int64) {
	for i := range 6 {
		s.work(20)
		if e := s.launch("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", dur); i > 0 {
			s.mark(e)
		}
	}
}

// python runs Python between operators.
func (s *scene) python(own int64, mark bool) {
	for range 5 {
		e := s.slice("python_function", "train.py(12): step", own, nothing)
		if mark {
			s.mark(e)
		}
		s.work(5)
	}
}

// small launches kernels of some length from operators of some µs.
func (s *scene) small(n int, dur int64) {
	for range n {
		s.op("aten::relu", 20_000, func() { s.launch("relu", dur) })
	}
}

// fills draws random numbers on the CPU before each copy, or has the device draw them.
func (s *scene) fills(onCPU bool) {
	for range 10 {
		s.work(1)
		if onCPU {
			s.mark(s.op("aten::normal_", 500_000, nothing))
			s.op("aten::to", 4000, func() { s.copy(testtrace.HtoDPinned, 1<<20, 50_000, false) })
		} else {
			s.op("aten::normal_", 500_000, func() { s.launch("distribution_elementwise", 5_000) })
		}
	}
}

// views has operators that compute nothing, each of some length.
func (s *scene) views(own int64, mark bool) {
	for range 60 {
		e := s.op("aten::view", own, nothing)
		if mark {
			s.mark(e)
		}
		s.op("aten::relu", own+4000, func() { s.launch("relu", 2000) })
	}
}

// lost has operations before the first launch that is recorded.
func (s *scene) lost(n int, mark bool) {
	for range n {
		start := s.run(10_000)
		if e := s.stream.Kernel("before", start, 10_000, -1); mark {
			s.mark(e)
		}
	}
	s.work(300)
}

// kernels has operators with one kernel each.
func (s *scene) kernels(op, name string, n int, mark bool) {
	for range n {
		s.op(op, 4000, func() {
			if e := s.launch(name, 50_000); mark {
				s.mark(e)
			}
		})
		s.work(1)
	}
}

// graphs launches graphs, each after copies of their inputs.
func (s *scene) graphs(around string, mark bool) {
	for range 5 {
		s.op(around, 10_000, func() {
			for range 10 {
				if e := s.copy(testtrace.DtoD, 1<<20, 20_000, false); mark {
					s.mark(e)
				}
			}
			s.corr++
			start := s.run(200_000)
			s.main.Launch("cudaGraphLaunch", s.host, 10_000, s.corr)
			s.host += 10_000
			s.stream.Kernel("fused", start, 200_000, s.corr)
		})
	}
}

// buckets copies gradients out of buckets.
func (s *scene) buckets(n int, mark bool) {
	for range n {
		e := s.op("torch.distributed.ddp.reducer::copy_bucket_to_grad", 10_000, func() { s.launch("copy", 20_000) })
		if mark {
			s.mark(e)
		}
		s.op("aten::mm", 4000, func() { s.launch("gemm", 10_000) })
	}
}

// gloo has a collective of the CPU on a thread of its own, while the main thread waits inside an annotation.
func (s *scene) gloo(dur int64) {
	other := s.b.Thread(100, 200, "pt_gloo")
	for range 5 {
		s.hostOps(50)
		s.annotate("## backward ##", 10_000_000, func() {
			s.mark(other.Annotation("gloo:all_reduce", s.host-4_900_000, dur))
			s.op("aten::mul", 1000, nothing)
		})
	}
}

// optimizerOnCPU runs steps of an optimizer in a run without a device.
func (s *scene) optimizerOnCPU(class, op string, mark bool) {
	for range 3 {
		s.op("aten::addmm", 500_000, nothing)
		e := s.annotate("Optimizer.step#"+class+".step", 50_000, func() {
			for range 60 {
				s.op(op, 10_000, nothing)
			}
		})
		if mark {
			s.mark(e)
		}
	}
}

// onCPU multiplies matrices of a type on the CPU alone.
func (s *scene) onCPU(typ string, mark bool) {
	for range 10 {
		e := s.op("aten::mm", 2_000_000, nothing).Arg("Input Dims", testtrace.Raw("[[512, 512], [512, 512]]")).Arg("Input type", testtrace.Raw(`["`+typ+`", "`+typ+`"]`))
		if mark {
			s.mark(e)
		}
	}
}

// images copies images to the host, which saves each at once.
func (s *scene) images(name string, dur int64, mark bool) {
	for range 5 {
		s.work(5)
		s.op("aten::copy_", 4000, func() {
			if e := s.copy(name, 8<<20, dur, true); mark {
				s.mark(e)
			}
		})
		s.op("save", 5_000_000, nothing)
	}
}

// inLine copies batches on the stream that computes, without a wait.
func (s *scene) inLine(bytes, dur int64) {
	for i := range 5 {
		s.op("aten::copy_", 4000, func() {
			if e := s.copy(testtrace.HtoDPinned, bytes, dur, false); i > 0 {
				s.mark(e)
			}
		})
		s.work(10)
	}
}

// queue waits in Python for another thread before each step.
func (s *scene) queue(ns int64) {
	for range 5 {
		s.slice("python_function", "queue.py(154): get", ns, nothing)
		s.work(5)
	}
}

// fed waits for a thread that makes batches, which takes so long for one; where the batch is there the other thread waits.
func (s *scene) fed(ns int64, late bool) { s.fedBy(ns, late, func() { s.work(5) }) }

func (s *scene) fedBy(ns int64, late bool, step func()) {
	const acquire, release = "<built-in method acquire of _thread.lock object at 0x1>", "<built-in method release of _thread.lock object at 0x1>"
	s.work(1)
	waited, began := s.host, s.host
	for range 5 {
		if late {
			s.slice("python_function", acquire, ns, nothing)
			s.mark(s.b.Slice("python_function", release, 100, 300, s.host-20_000, 5_000))
		} else {
			s.slice("python_function", "train.py(12): step", ns/50, nothing)
			s.slice("python_function", release, 5_000, nothing)
			s.b.Slice("python_function", acquire, 100, 300, waited, s.host+2_000-waited)
			waited = s.host + 20_000
		}
		step()
	}
	s.sync("cudaDeviceSynchronize")
	if e := s.b.Slice("python_function", "train.py(30): produce", 100, 300, began-1_000, s.host-began+1_000); late {
		s.mark(e)
	}
}

// backward has nodes of autograd with some operators behind each kernel, of which the last waits.
func (s *scene) backward(nodes int, ops ...string) {
	for range nodes {
		s.op("autograd::engine::evaluate_function: MmBackward0", 4000, func() {
			s.kernel("aten::mm", "gemm", 50_000)
			for i, op := range ops {
				s.mark(s.op(op, 4000, func() {
					if i == len(ops)-1 && i > 0 {
						s.copy(testtrace.DtoHPageable, 1, 1000, true)
					}
				}))
			}
		})
	}
}

// loop calls a function in rounds that launch kernels one after the other, each round in a module of its own if they are layers.
func (s *scene) loop(rounds, kernels int, layers bool) {
	s.work(2)
	s.slice("python_function", "train.py(10): forward", 1000, func() {
		for i := range rounds {
			round := func() {
				for k := range kernels {
					s.kernel(fmt.Sprintf("aten::op%d", k), "add_kernel", 1500)
				}
			}
			e := s.slice("python_function", "train.py(20): piece", 3000, func() {
				if layers {
					s.slice("python_function", fmt.Sprintf("nn.Module: Block_%d", i), 1000, round)
				} else {
					round()
				}
			})
			if !layers {
				s.mark(e)
			}
		}
	})
	s.work(2)
}
