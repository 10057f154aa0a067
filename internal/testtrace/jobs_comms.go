package testtrace

// jobOrder names an instance: the number of a collective in its group, or of a transfer between two ranks of one.
type jobOrder struct {
	group, low, high, number int32
}

// jobColl is what the names of a collective are.
type jobColl struct {
	coll, op, annotation, kernel, old string
}

var jobColls = map[string]jobColl{
	"allreduce":            {"allreduce", "c10d::allreduce_", "nccl:all_reduce", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"},
	"_allgather_base":      {"_allgather_base", "c10d::_allgather_base_", "nccl:_all_gather_base", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"},
	"_reduce_scatter_base": {"_reduce_scatter_base", "c10d::_reduce_scatter_base_", "nccl:_reduce_scatter_base", "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_ReduceScatter_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)"},
	"all_to_all":           {"all_to_all", "c10d::alltoall_base_", "nccl:all_to_all", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"},
	"broadcast":            {"broadcast", "c10d::broadcast_", "nccl:broadcast", "ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_Broadcast_RING_LL_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"},
	"send":                 {"send", "c10d::send", "nccl:send", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"},
	"recv":                 {"recv", "c10d::recv_", "nccl:recv", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)"},
}

// commStream is the stream on which a rank runs the collectives of a group.
func (w *jobWorker) commStream(group int32) int32 { return w.stream(20 + 4*int64(group)) }

// collective starts a collective of a group; compute that needs its result waits with await.
func (w *jobWorker) collective(row, group int32, coll string, elems int64) {
	number := w.done[group]
	w.done[group]++
	order := jobOrder{group: group, low: -1, high: -1, number: number}
	w.communicate(row, order, w.commStream(group), coll, elems, "")
}

// transfer sends to, or receives from, another rank of a group. The streams of each pair are their own.
func (w *jobWorker) transfer(row, group, peer int32, send bool, elems int64) {
	low, high := min(w.rank, peer), max(w.rank, peer)
	key := group | (peer+1)<<16
	number := w.done[key]
	w.done[key]++
	coll, arrow := "recv", "<-"
	if send {
		coll, arrow = "send", "->"
	}
	order := jobOrder{group, low, high, number}
	w.communicate(row, order, w.pairStream(peer), coll, elems, " "+itoa(int64(w.position(group)))+arrow+itoa(int64(w.j.positionIn(group, peer))))
}

func (w *jobWorker) pairStream(peer int32) int32 {
	if peer < w.rank {
		return w.stream(500)
	}
	return w.stream(504)
}

func (w *jobWorker) position(group int32) int { return w.j.positionIn(group, w.rank) }

func (j *Job) positionIn(group, rank int32) int {
	for i, r := range j.Groups[group].Ranks {
		if r == rank {
			return i
		}
	}
	return -1
}

func (w *jobWorker) communicate(row int32, order jobOrder, stream int32, coll string, elems int64, suffix string) {
	j := w.j
	names := jobColls[coll]
	inst := j.instance(order, coll, elems, w.step)
	if coll == "send" {
		j.Instances[inst].sender = w.rank
	}
	kernel := names.kernel
	if j.has("old") {
		kernel = names.old
	}
	w.op(row, names.op, func() {
		w.work(row, 6000)
		record := w.op(row, "record_param_comms", func() {
			w.work(row, 2000)
			w.join(row, jobCompute, stream)
			w.within(row, kindAnnotation, names.annotation+suffix, func() {
				w.work(row, 3000)
				op := w.launch(row, stream, kernel, "cudaLaunchKernelExC")
				j.acts[op].inst = inst
				w.attend(inst, op, coll)
			})
			w.work(row, 2000)
		})
		j.acts[record].inst = inst
		w.work(row, 1500)
	})
}

// await lets compute wait for the last collective of a stream.
func (w *jobWorker) await(row, stream int32) { w.join(row, stream, jobCompute) }

// instance is that of an order; the first rank that comes makes it.
func (j *Job) instance(order jobOrder, coll string, elems int64, step int32) int32 {
	if id, ok := j.byOrder[order]; ok {
		return id
	}
	id := int32(len(j.Instances))
	j.byOrder[order] = id
	if coll == "recv" {
		coll = "send"
	}
	g := &j.graph
	ranks := j.Groups[order.group].Ranks
	if order.low >= 0 {
		ranks = []int32{order.low, order.high}
	}
	t := j.transferTime(ranks, coll, elems)
	inst := JobInstance{Group: order.group, Coll: coll, Elems: elems, Step: step, number: order.number, node: g.point(-1),
		knob: g.tune(int64(float64(t)*j.Groups[order.group].slow), t)}
	for _, r := range ranks {
		inst.Members = append(inst.Members, JobMember{Rank: r, act: -1})
	}
	j.Instances = append(j.Instances, inst)
	return id
}

// jobLatency is what a collective takes beside its bytes, ns.
const jobLatency = 12_000

// transferTime is what a collective takes once all are there: its latency, and its bytes over the slowest link.
func (j *Job) transferTime(ranks []int32, coll string, elems int64) int64 {
	bytesPerMicro := 200_000.0 // within a host
	for _, r := range ranks {
		if j.Ranks[r].Host != j.Ranks[ranks[0]].Host {
			bytesPerMicro = 40_000
		}
	}
	n := float64(len(ranks))
	f := (n - 1) / n
	switch coll {
	case "allreduce":
		f *= 2
	case "_allgather_base": // of which each puts in a part
		f *= n
	case "send", "broadcast":
		f = 1
	}
	us := jobLatency/1000 + 2*float64(elems)*f/bytesPerMicro
	return int64(us * 1000 * j.shape.comm)
}

// EndNoise is the standard deviation by which the ends of an instance scatter, ns.
func (j *Job) EndNoise(instance int) float64 {
	return scatter(j.graph.clean[j.Instances[instance].knob]) * j.Noise
}

// scatter is the same by how long a transfer takes, without noise.
func scatter(took int64) float64 { return 800 + 0.004*float64(took) }

// attend makes an operation a member of an instance. Of all collectives but a broadcast nobody is done before the last
// one came; the root of a broadcast waits for nobody, and the others for the root.
func (w *jobWorker) attend(inst, op int32, coll string) {
	j, g := w.j, &w.j.graph
	in := &j.Instances[inst]
	start, end := j.acts[op].start, g.point(w.rank)
	root := coll == "broadcast" && in.Members[0].Rank == w.rank
	if coll != "broadcast" || root {
		g.edge(start, in.node, -1, -1, 0)
	}
	base := g.clean[in.knob]
	noise := int64(w.rng.NormFloat64() * scatter(base) * j.Noise)
	noise = max(noise, -base/2)
	g.edge(in.node, end, in.knob, op, noise)
	if coll == "broadcast" && !root {
		g.edge(start, end, in.knob, op, noise)
	}
	for m := range in.Members {
		if in.Members[m].Rank == w.rank {
			in.Members[m].act = op
		}
	}
	w.finish(op, end)
}
