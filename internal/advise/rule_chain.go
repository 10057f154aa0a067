package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/vendors"
)

// Kinds of kernels that read and write each value once or twice, so that several could be one.
var pointwise = containsAny("elementwise", "reduce_kernel", "layer_norm", "LayerNorm", "softmax", "SoftMax", "dropout", "CatArray", "batch_norm", "rms_norm", "RMSNorm")

const (
	chainLength = 3
	chainTime   = 20_000 // ns
	fewChains   = 2
)

var elementwiseChain = add(rule{
	id: "elementwise-chain", group: Specific, torch: true, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "that a compiler fuses each chain is the best case; statistics of batch norm cannot be fused away",
	title:    "chains of small kernels each read and write whole tensors",
	cause:    "every kernel of the chain moves its tensors through memory once more",
	scenario: "of each chain the longest kernel stays, 15 % longer; the others vanish",
	verify:   "chains of such kernels are one kernel",
	find: func(r *run) *found {
		if r.program().graphs {
			return nil // its operations have no operators, and were compiled most often
		}
		is := r.m.SetOf(r.named(gpuKernel, func(s string) bool { return pointwise(s) && !vendors.IsCollective(s) })...)
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
				if is.Has(a) && update.by(a) == cdg.NoAct && r.launch(a) != cdg.NoAct {
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
		f.action = r.program().orCompile("fused modules for norms, activations and rotary embeddings")
		f.saw = fmt.Sprintf("%s of %s, %s", tables.Counted(chains, "chain"), tables.Counted(len(f.events.list), "kernel"), tables.Duration(busy))
		f.numbers = []Number{countOf("chains", chains), countOf("kernels", len(f.events.list)), timeOf("in them", busy)}
		f.change.remove(gone)
		f.change.lengthen(longest, 23, 20)
		return f
	},
})
