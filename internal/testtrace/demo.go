package testtrace

//go:generate go run ./cmd/demo -o ../../testdata/demo.json.gz

import (
	"bytes"
	"fmt"

	"github.com/klauspost/compress/gzip"
)

// demo writes three steps of data-parallel training of a small transformer: rank 0 of 8. Two things slow it down: in
// its second step the data loader is late, and in each step the last gradient bucket is reduced when backward has
// nothing left to hide it.
type demo struct {
	p    *Program
	main *host
	grad *host

	compute, copying, nccl int32

	args map[int32][]arg // of instructions
	seqs int
	fwd  []layerOp // forward ops of a step, for backward
	coll int
}

type arg struct {
	key   string
	value any
}

// layerOp is an op of the model: what its forward and its backward launch.
type layerOp struct {
	name, inner, node string
	fwd, bwd          []gpuOp
	seq               int
	instr             int32 // forward op
}

type gpuOp struct {
	name string
	us   int64
}

const demoLayers = 8

const (
	gemm   = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
	gemmNT = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off_kernel__5x_cublas"
	norm   = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, float*, float*, c10::BFloat16*)"
	normB  = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float const*, c10::BFloat16 const*, c10::BFloat16*, int)"
	gelu   = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, std::array<char*, 2ul> >(int)"
	geluB  = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}, std::array<char*, 3ul> >(int)"
	plus   = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
	flash  = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>, false, true, false, true>(pytorch_flash::Flash_fwd_params)"
	flashB = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<64, 128, 128, 8>, false, true>(pytorch_flash::Flash_bwd_params)"
	reduce = "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<float>, unsigned int, c10::BFloat16, 4> >"
	embed  = "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, unsigned int, 2, 2, -2, true>"
	embedB = "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<c10::BFloat16, float, long>"
	lossF  = "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, c10::BFloat16, LogSoftMaxForwardEpilogue>"
	lossB  = "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, c10::BFloat16, LogSoftMaxBackwardEpilogue>"
	nll    = "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<c10::BFloat16, float, long>"
	adam   = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor<float, 4, ADAM_MODE::ADAMW, false>, float const*, double>"
	ring   = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
)

// Demo makes the demo trace, gzipped. Its bytes are always the same.
func Demo() ([]byte, error) {
	d := &demo{p: NewProgram("demo", 2024, false), args: map[int32][]arg{}}
	p := d.p
	d.compute, d.copying, d.nccl = p.stream(7), p.stream(20), p.stream(24)
	d.main = p.on(p.thread(25738, "python"))
	d.grad = p.on(p.thread(25912, "pt_autograd_0"))
	for i := range p.Threads {
		p.Threads[i].pid = 25738
	}
	p.Threads[0].name, p.Threads[1].name = "thread 25738 (pt_main_thread)", "thread 25912 (pt_autograd_0)"
	for step := range 3 {
		d.main.annotate(fmt.Sprintf("ProfilerStep#%d", step+1), func() { d.step(step) })
		d.main.work(8_000, 15_000)
	}
	var r Run
	r.Simulate(p)
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(d.json(&r)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (d *demo) step(step int) {
	p, m := d.p, d.main
	m.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", func() {
		m.work(120_000, 220_000)
		if step == 1 {
			m.work(11_600_000, 11_700_000) // the workers are late
		}
	})
	m.work(20_000, 40_000)
	for range 2 { // tokens and labels
		m.op("aten::to", func() {
			m.work(2_000, 4_000)
			m.op("aten::_to_copy", func() {
				m.work(4_000, 8_000)
				m.op("aten::copy_", func() {
					m.work(3_000, 6_000)
					m.copyTo(d.copying, HtoDPinned, p.between(48_000, 60_000), false)
					m.work(1_000, 3_000)
				})
			})
		})
		m.work(4_000, 9_000)
	}
	d.wait(m, d.copying, d.compute)
	d.fwd = d.fwd[:0]
	m.annotate("DistributedDataParallel.forward", func() {
		m.work(60_000, 90_000)
		d.forward(layerOp{name: "aten::embedding", inner: "aten::index_select", node: "EmbeddingBackward0", fwd: []gpuOp{{embed, 42}}, bwd: []gpuOp{{embedB, 130}}})
		for range demoLayers {
			d.block()
		}
		d.forward(layerOp{name: "aten::layer_norm", inner: "aten::native_layer_norm", node: "NativeLayerNormBackward0", fwd: []gpuOp{{norm, 21}}, bwd: []gpuOp{{normB, 46}}})
		d.forward(layerOp{name: "aten::linear", inner: "aten::mm", node: "MmBackward0", fwd: []gpuOp{{gemm, 610}}, bwd: []gpuOp{{gemm, 600}, {gemmNT, 640}}})
	})
	m.work(10_000, 20_000)
	m.op("aten::cross_entropy_loss", func() {
		m.work(3_000, 6_000)
		d.forward(layerOp{name: "aten::log_softmax", inner: "aten::_log_softmax", node: "LogSoftmaxBackward0", fwd: []gpuOp{{lossF, 118}}, bwd: []gpuOp{{lossB, 165}}})
		d.forward(layerOp{name: "aten::nll_loss_nd", inner: "aten::nll_loss_forward", node: "NllLossBackward0", fwd: []gpuOp{{nll, 9}}, bwd: []gpuOp{{nll, 8}}})
	})
	m.work(15_000, 30_000)
	d.backward()
	m.work(10_000, 20_000)
	m.annotate("Optimizer.step#AdamW.step", func() {
		m.work(150_000, 220_000)
		for range 4 {
			m.op("aten::_fused_adamw_", func() {
				m.work(20_000, 40_000)
				m.launch(d.compute, adam, p.between(235_000, 262_000))
				m.work(2_000, 5_000)
			})
			m.work(3_000, 8_000)
		}
	})
	m.work(5_000, 9_000)
	m.annotate("Optimizer.zero_grad#AdamW.zero_grad", func() { m.work(25_000, 45_000) })
	m.work(5_000, 10_000)
	m.op("aten::item", func() {
		m.work(1_000, 2_000)
		m.op("aten::_local_scalar_dense", func() {
			m.work(2_000, 4_000)
			m.copyTo(d.compute, DtoHPageable, p.between(1_300, 1_700), true)
			m.work(300, 800)
			m.streamSync(d.compute)
			m.work(800, 1_500)
		})
	})
	m.work(30_000, 60_000)
}

func (d *demo) wait(h *host, from, to int32) {
	ev := h.record(from)
	h.work(400, 1_200)
	h.waitEvent(to, ev)
	h.work(300, 900)
}

// block is one transformer layer.
func (d *demo) block() {
	ln := layerOp{name: "aten::layer_norm", inner: "aten::native_layer_norm", node: "NativeLayerNormBackward0", fwd: []gpuOp{{norm, 21}}, bwd: []gpuOp{{normB, 46}, {reduce, 11}}}
	mm := func(us int64) layerOp {
		return layerOp{name: "aten::linear", inner: "aten::addmm", node: "AddmmBackward0", fwd: []gpuOp{{gemm, us}}, bwd: []gpuOp{{gemm, us}, {gemmNT, us + 9}, {reduce, 13}}}
	}
	add := layerOp{name: "aten::add", node: "AddBackward0", fwd: []gpuOp{{plus, 17}}}
	d.forward(ln)
	d.forward(mm(131))
	d.forward(layerOp{name: "aten::scaled_dot_product_attention", inner: "aten::_flash_attention_forward", node: "ScaledDotProductFlashAttentionBackward0",
		fwd: []gpuOp{{flash, 88}}, bwd: []gpuOp{{flashB, 251}}})
	d.forward(mm(47))
	d.forward(add)
	d.forward(ln)
	d.forward(mm(172))
	d.forward(layerOp{name: "aten::gelu", node: "GeluBackward0", fwd: []gpuOp{{gelu, 33}}, bwd: []gpuOp{{geluB, 49}}})
	d.forward(mm(174))
	d.forward(add)
}

func (d *demo) forward(o layerOp) {
	m := d.main
	d.seqs++
	o.seq = d.seqs
	launch := func() {
		for _, k := range o.fwd {
			m.work(4_000, 9_000)
			m.launch(d.compute, k.name, d.p.between(k.us*980, k.us*1030))
		}
		m.work(1_500, 3_000)
	}
	o.instr = m.op(o.name, func() {
		if o.inner == "" {
			launch()
			return
		}
		m.work(2_500, 6_000)
		inner := m.op(o.inner, launch)
		d.args[inner] = append(d.args[inner], arg{"Sequence number", o.seq}, arg{"Fwd thread id", 0})
		m.work(800, 2_000)
	})
	d.args[o.instr] = append(d.args[o.instr], arg{"Sequence number", o.seq}, arg{"Fwd thread id", 0})
	d.fwd = append(d.fwd, o)
	m.work(3_000, 9_000)
}

func (d *demo) backward() {
	p, m, g := d.p, d.main, d.grad
	start, done := p.cond(), p.cond()
	g.waitFor(start)
	g.work(8_000, 15_000)
	sinceBucket := 0
	for i := len(d.fwd) - 1; i >= 0; i-- {
		o := &d.fwd[i]
		outer := g.op("autograd::engine::evaluate_function: "+o.node, func() {
			g.work(2_000, 5_000)
			inner := g.op(o.node, func() {
				for _, k := range o.bwd {
					g.work(5_000, 11_000)
					g.launch(d.compute, k.name, p.between(k.us*980, k.us*1030))
				}
				g.work(2_000, 4_000)
			})
			d.args[inner] = append(d.args[inner], arg{"Sequence number", o.seq}, arg{"Fwd thread id", 1})
			p.flows = append(p.flows, o.instr, inner)
			g.work(1_000, 2_000)
		})
		d.args[outer] = append(d.args[outer], arg{"Sequence number", o.seq}, arg{"Fwd thread id", 1})
		g.work(1_000, 4_000)
		if o.name != "aten::linear" && o.name != "aten::embedding" {
			continue
		}
		g.op("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", func() {
			g.work(2_000, 4_000)
			g.op("torch::autograd::AccumulateGrad", func() { g.work(3_000, 6_000) })
			if sinceBucket++; sinceBucket == 12 || i == 0 {
				d.allReduce(i == 0)
				sinceBucket = 0
			}
		})
		g.work(1_000, 3_000)
	}
	d.wait(g, d.nccl, d.compute)
	g.signal(done)
	m.signal(start)
	m.waitFor(done)
}

// allReduce reduces one bucket of gradients; the last one is the largest, for the embedding is in it.
func (d *demo) allReduce(last bool) {
	p, g := d.p, d.grad
	us, elements := int64(1_350), 25_165_824
	if last {
		us, elements = 3_900, 77_194_240
	}
	d.coll++
	comm := []arg{{"Collective name", "allreduce"}, {"In msg nelems", elements}, {"Out msg nelems", elements}, {"Group size", 8}, {"dtype", "BFloat16"},
		{"In split size", "[]"}, {"Out split size", "[]"}, {"Process Group Name", "0"}, {"Process Group Description", "default_pg"},
		{"Process Group Ranks", "[0, 1, 2, 3, 4, 5, 6, 7]"}, {"Rank", 0}, {"Seq", d.coll}}
	g.op("torch::distributed::reducer::mul_out", func() {
		g.work(4_000, 8_000)
		g.launch(d.compute, plus, p.between(20_000, 26_000))
		g.work(1_000, 2_000)
	})
	g.work(2_000, 4_000)
	g.op("c10d::allreduce_", func() {
		g.work(4_000, 8_000)
		rec := g.op("record_param_comms", func() {
			g.work(6_000, 12_000)
			g.annotate("nccl:all_reduce", func() {
				g.work(2_000, 4_000)
				d.wait(g, d.compute, d.nccl)
				g.launchAs("cudaLaunchKernelExC", d.nccl, "kernel", ring, us*1000+p.between(0, 40_000))
			})
			g.work(3_000, 6_000)
		})
		d.args[rec] = comm
		for o := len(p.ops) - 1; o >= 0; o-- {
			if p.ops[o].stream == d.nccl {
				d.args[int32(-1-o)] = comm[:len(comm)-2] // the kernel's copy has no rank and number
				break
			}
		}
		g.work(2_000, 4_000)
	})
}
