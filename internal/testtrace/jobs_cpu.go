package testtrace

// trainOnCPU is the code of a rank that has no device: data-parallel training of which threads of the backend do the collectives,
// while the main thread goes on until it needs them.
func (w *jobWorker) trainOnCPU() {
	j := w.j
	starts := 50_000 + w.rng.Int64N(300_000)
	w.spendTuned(jobMain, -1, starts+j.lateStart(w.rank), starts)
	w.begun = w.cursor[jobMain]
	for s := range j.Steps {
		w.step = int32(s)
		w.within(jobMain, kindAnnotation, "ProfilerStep#"+itoa(int64(JobFirstStep+s)), func() {
			w.load(0)
			w.computeOnCPU("aten::addmm", j.shape.forward)
			w.within(jobMain, kindAnnotation, "## backward ##", w.backwardOnCPU)
			w.within(jobMain, kindAnnotation, "Optimizer.step#Adagrad.step", func() { w.computeOnCPU("aten::addcdiv_", j.shape.optimizer) })
		})
		w.step = -1
		w.work(jobMain, 3000)
	}
}

func (w *jobWorker) computeOnCPU(name string, took []int64) {
	for _, d := range took {
		w.op(jobMain, name, func() {
			d = w.jitter(3*d, 1)
			owner := w.open[jobMain][len(w.open[jobMain])-1]
			w.spendTuned(jobMain, owner, w.j.hostCost(w.rank, w.step, w.j.kernelCost(w.rank, w.step, name, d)), w.j.evenCost(w.rank, w.step, name, d))
		})
		w.work(jobMain, 2000)
	}
}

func (w *jobWorker) backwardOnCPU() {
	s := &w.j.shape
	var ends []int32
	for i := range s.layers {
		w.computeOnCPU("aten::mm", s.backward)
		if i%s.bucket == s.bucket-1 || i == s.layers-1 {
			ends = append(ends, w.reduceOnCPU(s.dataOf[w.rank], len(ends)))
		}
	}
	for _, p := range ends {
		g := &w.j.graph
		awake := g.after(p, 4000+w.rng.Int64N(50_000))
		g.edge(w.cursor[jobMain], awake, -1, -1, 0)
		w.cursor[jobMain] = awake
		w.op(jobMain, "aten::copy_", func() { w.work(jobMain, 30_000) })
	}
}

// reduceOnCPU asks for a collective and gives the point at which it ends. Two threads take turns.
func (w *jobWorker) reduceOnCPU(group int32, k int) int32 {
	j, g := w.j, &w.j.graph
	order := jobOrder{group: group, low: -1, high: -1, number: w.done[group]}
	w.done[group]++
	inst := j.instance(order, "allreduce", 20_000_000, w.step)
	row := w.stream(20 + int64(k%2))
	asked := w.op(jobMain, "c10d::allreduce_", func() {
		record := w.op(jobMain, "record_param_comms", func() { w.work(jobMain, 6000) })
		j.acts[record].inst = inst
		w.work(jobMain, 9000)
	})
	start := g.after(j.acts[asked].end, 60_000+w.rng.Int64N(100_000))
	if last := w.last[row-jobCompute]; last >= 0 {
		g.edge(last, start, -1, -1, 20_000)
	}
	op := w.add(row, jobKernel, "gloo:all_reduce", start)
	j.acts[op].inst, j.acts[op].op = inst, asked
	w.attend(inst, op, "allreduce")
	return j.acts[op].end
}
