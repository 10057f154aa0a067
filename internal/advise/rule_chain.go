package advise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/whatif"
)

// Kinds of kernels that read and write each value once or twice, so that several could be one.
var pointwise = containsAny("elementwise", "reduce_kernel", "layer_norm", "LayerNorm", "softmax", "SoftMax", "dropout", "CatArray", "batch_norm", "rms_norm", "RMSNorm")

// fusion is work that one kernel does, and what in eager mode stands for it: operators that a chain has, one of each list.
type fusion struct {
	name, do string
	of       [][]string
}

var fusions = []fusion{
	{"RMSNorm", "torch.nn.functional.rms_norm", [][]string{{"rsqrt"}, {"mean"}}},
	{"rotary embedding", "a fused kernel for rotary embeddings, such as Liger's", [][]string{{"neg"}, {"cat"}, {"mul"}}},
	{"SwiGLU", "a fused SwiGLU, such as Liger's", [][]string{{"silu"}, {"mul"}}},
	{"GELU", "torch.nn.functional.gelu(x, approximate=\"tanh\")", [][]string{{"tanh", "erf"}, {"pow", "mul"}}},
}

// fusionOf is what a chain does; nil for anything else. Of what has no operators nothing is known.
func fusionOf(r *run, chain []cdg.ActID) *fusion {
	has := map[string]bool{}
	for _, a := range chain {
		if op := r.opAround(a); op != cdg.NoAct {
			has[strings.TrimSuffix(strings.TrimPrefix(r.name(op), "aten::"), "_")] = true
		}
	}
	i := slices.IndexFunc(fusions, func(f fusion) bool {
		return !slices.ContainsFunc(f.of, func(any []string) bool { return !slices.ContainsFunc(any, func(op string) bool { return has[op] }) })
	})
	if i < 0 {
		return nil
	}
	return &fusions[i]
}

const (
	chainLength = 3
	chainTime   = 20_000 // ns
	fewChains   = 2
	chainWorth  = 0.02 // of the window, what chains hold of the critical path
)

var elementwiseChain = add(rule{
	id: "elementwise-chain", group: Specific, torch: true, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "that a compiler fuses each chain is the best case; statistics of batch norm cannot be fused away",
	title:    "chains of small kernels each read and write whole tensors",
	cause:    "every kernel of the chain moves its tensors through memory once more",
	scenario: "of each chain the longest kernel stays, 15 % longer; the others vanish, and so do their launches",
	verify:   "chains of such kernels are one kernel",
	find: func(r *run) *found {
		if r.program().graphs {
			return nil // its operations have no operators, and were compiled most often
		}
		is, comms := r.m.SetOf(r.named(gpuKernel, pointwise)...), r.m.SetOf(r.collectives()...)
		steps, _ := optimizerSteps(r)
		update := r.within(steps)
		f := &found{change: r.scenario()}
		chains := 0
		var chain, longest, gone, calls []cdg.ActID
		counts, times := map[*fusion]int{}, map[*fusion]int64{}
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
						gone, calls = append(gone, a), append(calls, r.launch(a))
					}
				}
				f.events.list = append(f.events.list, chain...)
				if x := fusionOf(r, chain); x != nil {
					counts[x]++
					times[x] += sum(chain, r.dur)
				}
			}
			chain = nil
		}
		for l := range r.g.Lanes {
			if !r.g.Lanes[l].Stream {
				continue
			}
			for a := r.g.Lanes[l].First; a < r.g.Lanes[l].Limit; a++ {
				if is.Has(a) && !comms.Has(a) && update.by(a) == cdg.NoAct && r.launch(a) != cdg.NoAct {
					chain = append(chain, a)
				} else {
					end()
				}
			}
			end()
		}
		if chains < fewChains || float64(r.criticalOf(f.events.list)) < chainWorth*float64(r.window) {
			return nil
		}
		busy := sum(f.events.list, r.dur)
		f.saw = fmt.Sprintf("%s of %s, %s", tables.Counted(chains, "chain"), tables.Counted(len(f.events.list), "kernel"), tables.Duration(busy))
		f.numbers = []Number{countOf("chains", chains), countOf("kernels", len(f.events.list)), timeOf("in them", busy)}
		known := slices.SortedFunc(maps.Keys(times), func(x, y *fusion) int {
			return cmp.Or(cmp.Compare(times[y], times[x]), strings.Compare(x.name, y.name))
		})
		var fused []string
		for i, x := range known {
			fused = append(fused, x.do)
			f.numbers = append(f.numbers, timeOf("in "+tables.Counted(counts[x], x.name), times[x]))
			if i == 0 && 3*times[x] > busy {
				f.title = x.name + "s are several kernels each"
				f.saw = fmt.Sprintf("%s of %s, most in %s", tables.Counted(chains, "chain"), tables.Duration(busy), tables.Counted(counts[x], x.name))
			}
		}
		if len(fused) == 0 {
			fused = []string{"fused modules for norms, activations and rotary embeddings"}
		}
		f.action = r.program().orCompile(fused...)
		f.change.remove(gone)
		f.change.zero(calls)
		f.change.changes = append(f.change.changes, whatif.Change{Verb: whatif.Scale, On: r.m.SetOf(longest...), Num: 23, Den: 20})
		return f
	},
})
