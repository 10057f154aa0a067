package testtrace

// Names of what a step of training launches.
var (
	jobForward   = []string{gemm, norm, flash, gelu, plus}
	jobBackward  = []string{gemmNT, normB, flashB, geluB, plus, gemm, reduce, gemmNT}
	jobFwdOps    = []string{"aten::linear", "aten::layer_norm", "aten::scaled_dot_product_attention", "aten::gelu", "aten::add"}
	jobBwdOps    = []string{"AddmmBackward0", "NativeLayerNormBackward0", "ScaledDotProductFlashAttentionBackward0", "GeluBackward0", "AddBackward0", "MmBackward0", "SumBackward1", "TBackward0"}
	jobHostNoise = []int64{6000, 9000, 5000}
)

// train is the code of a rank: some steps of training. The profiler starts at another moment on each rank, and nothing
// before is recorded. Where no step waits for its GPU, the threads are ahead of it by then.
func (w *jobWorker) train() {
	j := w.j
	ahead := 0
	if !j.shape.itemSync {
		ahead = jobAhead
	}
	var ends []int32 // of steps: the last operation
	for s := -ahead; s < j.Steps; s++ {
		if s == 0 {
			starts := 50_000 + w.rng.Int64N(300_000)
			w.spendTuned(jobMain, -1, starts+j.lateStart(w.rank), starts)
			w.begun = w.cursor[jobMain]
		}
		w.step = int32(max(s, -1))
		w.within(jobMain, kindAnnotation, "ProfilerStep#"+itoa(int64(JobFirstStep+s)), func() {
			if n := len(ends) - jobAhead; n >= 0 && ahead > 0 { // as far as the queue of launches allows
				w.waitFor("cudaEventSynchronize", ends[n])
			}
			w.oneStep()
			w.call(jobMain, "cudaEventRecord", 900)
		})
		ends = append(ends, w.last[0])
		w.step = -1
		w.work(jobMain, 3000)
	}
	w.sync(jobMain, jobCompute)
}

// jobAhead is by how many steps threads are ahead of the GPU.
const jobAhead = 2

// JobFirstStep is the number of the first step that is recorded.
const JobFirstStep = 10

func (w *jobWorker) oneStep() {
	j, s := w.j, &w.j.shape
	stage := int(j.Ranks[w.rank].Stage)
	w.load(stage)
	if s.buffers {
		w.collective(jobMain, s.dataOf[w.rank], "broadcast", 200_000)
		w.await(jobMain, w.commStream(s.dataOf[w.rank]))
	}
	for range s.micro {
		if stage > 0 {
			w.receive(jobMain, -1)
		}
		w.forward()
		if stage < s.pipe-1 {
			w.send(jobMain, +1)
		}
	}
	if stage == s.pipe-1 {
		w.op(jobMain, "aten::cross_entropy_loss", func() {
			w.work(jobMain, 9000)
			w.kernel(jobMain, lossF, 20_000)
		})
	}
	w.handOver(jobMain, jobGrad)
	for m := range s.micro {
		if stage < s.pipe-1 {
			w.receive(jobGrad, +1)
		}
		w.backward(m == s.micro-1)
		if stage > 0 {
			w.send(jobGrad, -1)
		}
	}
	w.handOver(jobGrad, jobMain)
	w.update()
}

// load fetches a batch; only the first stage of a pipeline does.
func (w *jobWorker) load(stage int) {
	if stage > 0 && !w.j.wrong("data") {
		return
	}
	w.within(jobMain, kindAnnotation, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", func() {
		w.work(jobMain, w.j.shape.loader)
		if late := w.j.lateData(w.rank, w.step); late > 0 {
			w.spendTuned(jobMain, w.open[jobMain][len(w.open[jobMain])-1], late, 0)
		}
	})
	w.work(jobMain, 4000)
}

func (w *jobWorker) forward() {
	s := &w.j.shape
	paused := int(w.step) % s.layers
	for i := range s.layers {
		if s.sharded {
			w.gather(jobMain, i, s.layers)
		}
		for k, d := range s.forward {
			w.op(jobMain, jobFwdOps[k%len(jobFwdOps)], func() {
				w.work(jobMain, jobHostNoise[k%3])
				if i == paused && k == 0 {
					w.pause()
				}
				w.kernel(jobMain, jobForward[k%len(jobForward)], d)
				w.work(jobMain, 2000)
			})
			w.work(jobMain, 1500)
		}
		w.exchange(jobMain, s.forward[0])
		if g := s.tensorOf[w.rank]; g >= 0 {
			w.collective(jobMain, g, "allreduce", 2_000_000)
			w.await(jobMain, w.commStream(g))
		}
	}
}

// pause stops the rank for a while, once a step.
func (w *jobWorker) pause() {
	if d := w.j.stop(w.rank, w.step); d > 0 && w.paused != w.step {
		w.paused = w.step
		w.spendTuned(jobMain, w.open[jobMain][len(w.open[jobMain])-1], d, 0)
	}
}

// exchange sends tokens to the ranks that have their experts, and back.
func (w *jobWorker) exchange(row int32, d int64) {
	g := w.j.shape.expertOf[w.rank]
	if g < 0 {
		return
	}
	w.collective(row, g, "all_to_all", 1_500_000)
	w.await(row, w.commStream(g))
	w.op(row, "aten::bmm", func() {
		w.work(row, 6000)
		w.kernel(row, gemm, d)
	})
	w.collective(row, g, "all_to_all", 1_500_000)
	w.await(row, w.commStream(g))
}

// gather fetches the weights of the next layer while this one runs.
func (w *jobWorker) gather(row int32, i, n int) {
	g := w.j.shape.dataOf[w.rank]
	if g < 0 {
		return
	}
	fetch := func() { w.collective(row, g, "_allgather_base", w.j.shape.shardElems()) }
	if i == 0 {
		fetch()
	}
	w.await(row, w.commStream(g))
	if i < n-1 {
		fetch()
	}
}

// layerElems is the size of the weights of a layer, where they are shared.
const layerElems = 4_000_000

// shardElems is what a rank has of the weights of a layer.
func (s *jobShape) shardElems() int64 { return layerElems / int64(s.data) }

func (w *jobWorker) backward(last bool) {
	s := &w.j.shape
	const row = jobGrad
	filled := 0
	for i := range s.layers {
		if s.sharded {
			w.gather(row, i, s.layers)
		}
		for k, d := range s.backward {
			name := jobBwdOps[k%len(jobBwdOps)]
			w.op(row, "autograd::engine::evaluate_function: "+name, func() {
				w.work(row, 3000)
				w.op(row, name, func() {
					w.work(row, jobHostNoise[k%3])
					w.kernel(row, jobBackward[k%len(jobBackward)], d)
				})
				w.work(row, 1500)
			})
			w.work(row, 1000)
		}
		w.exchange(row, s.backward[0])
		if g := s.tensorOf[w.rank]; g >= 0 {
			w.collective(row, g, "allreduce", 2_000_000)
			w.await(row, w.commStream(g))
		}
		g := s.dataOf[w.rank]
		switch filled++; {
		case g < 0 || !last && !s.sharded:
		case s.sharded:
			w.collective(row, g, "_reduce_scatter_base", layerElems)
		case filled >= s.bucket || i == s.layers-1:
			w.collective(row, g, "allreduce", 4_000_000*int64(filled))
			filled = 0
		}
	}
	if g := s.dataOf[w.rank]; last && g >= 0 {
		w.await(row, w.commStream(g))
	}
}

func (w *jobWorker) peer(by int) int32 {
	s := &w.j.shape
	return w.rank + int32(by*s.tensor*s.data)
}

const jobActivations = 1_000_000

func (w *jobWorker) send(row int32, by int) {
	w.transfer(row, w.j.shape.pipeOf[w.rank], w.peer(by), true, jobActivations)
}

func (w *jobWorker) receive(row int32, by int) {
	w.transfer(row, w.j.shape.pipeOf[w.rank], w.peer(by), false, jobActivations)
	w.await(row, w.pairStream(w.peer(by)))
}

// update is the optimizer and what closes a step.
func (w *jobWorker) update() {
	s := &w.j.shape
	if s.gradNorm {
		w.collective(jobMain, s.world, "allreduce", 1)
		w.await(jobMain, w.commStream(s.world))
	}
	if g := w.extra(); g >= 0 {
		w.collective(jobMain, g, "allreduce", 16)
	}
	w.within(jobMain, kindAnnotation, "Optimizer.step#AdamW.step", func() {
		for _, d := range s.optimizer {
			w.op(jobMain, "aten::_fused_adamw_", func() {
				w.work(jobMain, 9000)
				w.kernel(jobMain, adam, d)
			})
			w.work(jobMain, 2000)
		}
	})
	if s.itemSync {
		w.op(jobMain, "aten::item", func() {
			w.work(jobMain, 2000)
			w.sync(jobMain, jobCompute)
		})
	}
}

// extra is the group of a rank that does a further collective in this step, -1: half of the groups of one kind in some
// of the steps.
func (w *jobWorker) extra() int32 {
	s := &w.j.shape
	if !w.j.has("extra") || w.step%2 == 0 {
		return -1
	}
	for _, of := range [][]int32{s.tensorOf, s.dataOf} {
		if g := of[w.rank]; g >= 0 && len(w.j.Groups[g].Ranks) < w.j.World {
			if g%2 == 0 {
				return g
			}
			return -1
		}
	}
	return -1
}
