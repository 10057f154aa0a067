package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

// containsAny makes a test for names that hold one of some words.
func containsAny(words ...string) func(string) bool {
	return func(s string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
}

var _ = add(rule{
	id: "fp64", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "that fp32 takes half of the time is a bound of the bytes moved; units for fp64 are slower still",
	title:    "kernels compute in double precision",
	cause:    "a double moves twice the bytes, and most devices have few units for it",
	scenario: "each such kernel takes half of its time",
	action:   []string{"find where a double enters: arrays of numpy are double by default; tensor.float(), or dtype=torch.float32"},
	verify:   "names of the kernels hold float in place of double",
	find: func(r *run) *found {
		// A type of accumulation, or that of a scalar, is not the type of what is moved.
		list := r.named(gpuKernel, func(s string) bool {
			return containsAny("<double", "dgemm", "lambda(double)")(s) && !strings.Contains(s, "opmath")
		})
		if len(list) == 0 {
			return nil
		}
		busy := sum(list, r.dur)
		f := &found{events: events{list: list}, change: r.scenario(), do: "find where a double enters: .float(), dtype=torch.float32",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(list), "kernel"), tables.Duration(busy)),
			numbers: []Number{countOf("kernels in double precision", len(list)), timeOf("in them", busy)}}
		f.change.scale(list, func(_ cdg.ActID, own int64) int64 { return own / 2 })
		return f
	},
})

// fewTransposes is how many kernels are no pattern.
const fewTransposes = 4

var _ = add(rule{
	id: "layout", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "which layout is best for all kernels together is not known",
	title:    "tensors change their layout around convolutions",
	cause:    "kernels for tensor cores want channels last, and each input and output is transposed for them",
	scenario: "the transposes vanish",
	action:   []string{"model.to(memory_format=torch.channels_last), and the input too", "with MIOpen: PYTORCH_MIOPEN_SUGGEST_NHWC=1"},
	verify:   "no transposes beside convolutions",
	find: func(r *run) *found {
		var list []cdg.ActID
		for _, a := range r.named(gpuKernel, func(s string) bool {
			return containsAny("nchwToNhwc", "nhwcToNchw", "transpose_readWrite", "batched_transpose", "tensorTransform")(s) && !strings.Contains(s, "SubTensorOp")
		}) {
			known, conv := false, false
			r.around(a, func(_ cdg.ActID, name string) bool {
				known = true
				conv = conv || containsAny("conv", "Conv", "batch_norm", "BatchNorm")(name)
				return !conv
			})
			if conv || !known && r.besideConvolution(a) { // traces of the GPU alone have no operators
				list = append(list, a)
			}
		}
		if len(list) < fewTransposes {
			return nil
		}
		f := &found{events: events{list: list, expected: -1}, change: r.scenario(), do: "model.to(memory_format=torch.channels_last)",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(list), "transpose"), tables.Duration(sum(list, r.dur))),
			numbers: []Number{countOf("transposes", len(list)), timeOf("in them", sum(list, r.dur))}}
		f.change.remove(list)
		return f
	},
})

// besideConvolution reports whether a kernel of a convolution is next to an operation on its stream, or next but one.
func (r *run) besideConvolution(a cdg.ActID) bool {
	lane := &r.g.Lanes[r.g.Acts[a].Lane]
	for b := max(a-2, lane.First); b <= a+2 && b < lane.Limit; b++ {
		if convolves(r.name(b)) {
			return true
		}
	}
	return false
}

// convolves tells kernels of convolutions, those of MIOpen too.
var convolves = containsAny("igemm_fwd", "igemm_bwd", "igemm_wrw", "conv2d", "Conv", "_fprop", "_dgrad", "_wgrad", "winograd", "Winograd")

// Kinds of kernels that read and write each value once or twice, so that several could be one.
var pointwise = containsAny("elementwise", "reduce_kernel", "layer_norm", "LayerNorm", "softmax", "SoftMax", "dropout", "CatArray", "batch_norm", "rms_norm", "RMSNorm")

const (
	chainLength = 3
	chainTime   = 20_000 // ns
	fewChains   = 2
)

var elementwiseChain = add(rule{
	id: "elementwise-chain", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "that a compiler fuses each chain is the best case; statistics of batch norm cannot be fused away",
	title:    "chains of small kernels each read and write whole tensors",
	cause:    "every kernel of the chain moves its tensors through memory once more",
	scenario: "of each chain the longest kernel stays, 15 % longer; the others vanish",
	action:   []string{"torch.compile(model)", "fused modules for norms, activations and rotary embeddings"},
	verify:   "chains of such kernels are one kernel",
	find: func(r *run) *found {
		if len(r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })) > 0 {
			return nil // its operations have no operators, and were compiled most often
		}
		is := r.fits(gpuKernel, func(s string) bool { return pointwise(s) && !vendors.IsCollective(s) })
		steps, _ := r.optimizerSteps()
		update := r.within(steps)
		f := &found{change: r.scenario()}
		chains := 0
		var chain, longest, gone []cdg.ActID
		end := func() {
			if len(chain) >= chainLength && sum(chain, r.dur) >= chainTime {
				chains++
				most := chain[0]
				for _, a := range chain {
					if r.dur(a) > r.dur(most) {
						most = a
					}
				}
				longest = append(longest, most)
				for _, a := range chain {
					if a != most {
						gone = append(gone, a)
					}
				}
				f.events.list = append(f.events.list, chain...)
			}
			chain = nil
		}
		for l := range r.g.Lanes {
			if !r.g.Lanes[l].Stream {
				continue
			}
			for a := r.g.Lanes[l].First; a < r.g.Lanes[l].Limit; a++ {
				if r.inside(a) && r.kind(a) == trace.Kernel && is[r.event(a).Name] && update[a] == cdg.NoAct && r.launch[a] != cdg.NoAct {
					chain = append(chain, a)
				} else {
					end()
				}
			}
			end()
		}
		if chains < fewChains {
			return nil
		}
		busy := sum(f.events.list, r.dur)
		f.do = "torch.compile, or fused modules"
		f.saw = fmt.Sprintf("%s of %s, %s", tables.Counted(chains, "chain"), tables.Counted(len(f.events.list), "kernel"), tables.Duration(busy))
		f.numbers = []Number{countOf("chains", chains), countOf("kernels", len(f.events.list)), timeOf("in them", busy)}
		f.change.remove(gone)
		f.change.lengthen(longest, 23, 20)
		return f
	},
})

// graphWords are in the names of what launches graphs.
var graphWords = containsAny("CompiledFunction", "cudagraph", "CompiledFxGraph")

// fewGraphCopies is how many copies are no pattern.
const fewGraphCopies = 20

var _ = add(rule{
	id: "graph-input-copies", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Medium,
	why:      "some of the inputs may really change",
	title:    "inputs of CUDA graphs are copied before each launch",
	cause:    "a graph reads where it was recorded; what lies elsewhere is copied there, one tensor at a time",
	scenario: "the copies vanish",
	action:   []string{"torch._dynamo.mark_static_address(tensor) for inputs that stay where they are", "one graph in place of many: fewer graph breaks", "PyTorch 2.1 or later"},
	verify:   "no copies before graph launches",
	find: func(r *run) *found {
		if len(r.named(callKinds, func(s string) bool { return vendors.VerbOf(s) == vendors.GraphLaunch })) == 0 {
			return nil
		}
		compiled := r.named(markKinds, graphWords)
		in := r.within(compiled)
		var list, calls []cdg.ActID
		for _, a := range r.ops {
			if in[a] == cdg.NoAct || r.verb(r.launch[a]) == vendors.GraphLaunch {
				continue
			}
			if r.kind(a) == trace.Memcpy && !toDevice(r.name(a)) && !toHost(r.name(a)) || r.kind(a) == trace.Kernel && containsAny("copy_kernel", "copy_device", "direct_copy")(r.name(a)) {
				list = append(list, a)
				calls = append(calls, r.launch[a])
			}
		}
		if len(list) < fewGraphCopies {
			return nil
		}
		f := &found{events: events{list: list, expected: -1}, change: r.scenario(), do: "torch._dynamo.mark_static_address, fewer graphs",
			saw:     fmt.Sprintf("%s, %s", tables.Grouped(int64(len(list)))+" copies", tables.Duration(sum(list, r.dur))),
			numbers: []Number{countOf("copies", len(list)), timeOf("in them", sum(list, r.dur))}}
		f.change.remove(list)
		f.change.zero(calls)
		return f
	},
})

// fewBucketCopies is how many gradients are no pattern.
const fewBucketCopies = 20

var _ = add(rule{
	id: "ddp-bucket-copies", group: Specific, kind: Predicted, level: Medium,
	why:      "the operator that copies a gradient out of its bucket is recorded",
	title:    "DistributedDataParallel copies each gradient out of its bucket",
	cause:    "gradients have memory of their own beside the buckets that are reduced",
	scenario: "these operators take no time, and their copies vanish",
	action:   []string{"DistributedDataParallel(..., gradient_as_bucket_view=True)"},
	verify:   "copy_bucket_to_grad is gone",
	find: func(r *run) *found {
		ops := r.outermost(r.named(opKinds, oneOf("torch.distributed.ddp.reducer::copy_bucket_to_grad")))
		if len(ops) < fewBucketCopies {
			return nil
		}
		in := r.within(ops)
		var copies []cdg.ActID
		for _, a := range r.ops {
			if in[a] != cdg.NoAct {
				copies = append(copies, a)
			}
		}
		f := &found{events: events{ops, -1}, change: r.scenario(), do: "DistributedDataParallel(gradient_as_bucket_view=True)",
			saw:     fmt.Sprintf("%s copied", tables.Counted(len(ops), "gradient")),
			numbers: []Number{countOf("gradients", len(ops)), timeOf("in the operators", sum(ops, r.dur))}}
		f.change.shrink(ops, 0)
		f.change.remove(copies)
		return f
	},
})
