package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/roofline"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// fusedShare is the part of the peak of products that a fused attention reaches.
const fusedShare = 0.5

// nearProduct is how many operations of its stream may lie between a softmax and the products of the attention.
const nearProduct = 10

var attentionUnfused = add(rule{
	id: "attention-unfused", group: Specific, torch: true, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "a softmax between two batched products, in one stream",
	title:    "attention is computed in several kernels",
	cause:    "the matrix of weights is written and read again by each of them",
	scenario: "what lies between the two products vanishes; products of 16 bits whose shapes are known take what half of the device's peak allows, as a fused kernel does, others as long as they took",
	action: []string{"torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=...)",
		"where that is called already: look why it takes the slow way, with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION])"},
	verify: "no softmax kernel between two batched products",
	find: func(r *run) *found {
		var between, products []cdg.ActID
		n := 0
		softmax := r.fits(gpuKernel, func(s string) bool {
			s = strings.ToLower(s)
			return strings.Contains(s, "softmax") && !strings.Contains(s, "backward") && !strings.Contains(s, "log_softmax") && !strings.Contains(s, "logsoftmax")
		})
		if len(softmax) == 0 {
			return nil
		}
		for l := range r.g.Lanes {
			if !r.g.Lanes[l].Stream {
				continue
			}
			first, limit := r.g.Lanes[l].First, r.g.Lanes[l].Limit
			for a := first; a < limit; a++ {
				if r.kind(a) != trace.Kernel || !softmax[r.syms[a]] || !r.inside(a) || inBackward(r, a) {
					continue
				}
				before, after := productBeside(r, a, -1, first, limit), productBeside(r, a, 1, first, limit)
				if before == cdg.NoAct || after == cdg.NoAct {
					continue
				}
				n++
				products = append(products, before, after)
				for b := before + 1; b < after; b++ {
					between = append(between, b)
				}
			}
		}
		slices.Sort(between)
		between = slices.Compact(between)
		if n < 2 {
			return nil
		}
		slices.Sort(products)
		products = slices.Compact(products)
		rows := map[cdg.ActID]*roofline.Row{}
		for i, list := 0, r.products(); i < len(list); i++ {
			rows[list[i].Main] = &list[i]
		}
		busy := sum(between, func(a cdg.ActID) int64 { return r.own(a) })
		f := &found{events: events{list: between, expected: -1}, change: r.scenario(), do: "F.scaled_dot_product_attention",
			saw:     fmt.Sprintf("%s, %s between the products", tables.Counted(n, "attention"), tables.Duration(busy)),
			numbers: []Number{countOf("attentions", n), countOf("operations", len(between)), timeOf("between products", busy), timeOf("in the products", sum(products, r.own))}}
		f.change.remove(between)
		f.change.scale(products, func(a cdg.ActID, own int64) int64 {
			if row := rows[a]; row != nil && row.Peak > 0 && trace.ElementSize(row.Type) == 2 {
				return min(own, int64(float64(row.Flops)/(row.Peak*fusedShare)))
			}
			return own
		})
		return f
	},
})

// inBackward reports whether an operation was launched in backward.
func inBackward(r *run, a cdg.ActID) bool {
	back := false
	r.around(a, func(_ cdg.ActID, name string) bool {
		back = back || strings.Contains(name, "ackward")
		return !back
	})
	return back
}

// productBeside is the nearest batched product before or after an operation in its stream, NoAct without one nearby.
func productBeside(r *run, a cdg.ActID, step int, first, limit cdg.ActID) cdg.ActID {
	for i, b := 0, int(a)+step; i <= nearProduct && b >= int(first) && b < int(limit); i, b = i+1, b+step {
		if batched(r, cdg.ActID(b)) {
			return cdg.ActID(b)
		}
	}
	return cdg.NoAct
}

// maybeBatched reports whether the name of a kernel is that of a product: 1 or 0.
func maybeBatched(name string) uint32 { return bit(gemms(name) || strings.Contains(name, "bmm")) }

// batched reports whether a kernel is a product of batches of matrices, by the operators around its launch.
func batched(r *run, a cdg.ActID) bool {
	if r.kind(a) != trace.Kernel {
		return false
	}
	if r.gemms.of(r.tr, r.syms[a]) == 0 {
		return false
	}
	yes := false
	r.around(a, func(_ cdg.ActID, name string) bool {
		switch name {
		case "aten::bmm", "aten::baddbmm":
			yes = true
		case "aten::mm", "aten::addmm", "aten::linear":
			return false
		}
		return !yes
	})
	return yes
}

// longMask is the length of sequences from which on a mask costs more than the products beside it.
const longMask = 512

// What takes a mask and what does not is in PyTorch's documents of scaled_dot_product_attention: a mask is read for each head and each row, and what it
// hides is computed all the same; with is_causal a kernel leaves out half of the matrix.
var _ = add(rule{
	id: "attention-mask", group: Specific, torch: true, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "the shapes say that a mask of all positions is given; whether it is the causal one was not recorded",
	title:    "attention is given its mask as a matrix",
	cause:    "the kernel reads a mask for each pair of positions, and computes what it hides, too",
	scenario: "the kernels of these attentions take half of their time, forward and backward",
	action:   []string{"scaled_dot_product_attention(q, k, v, is_causal=True) where the mask is the causal one", "torch.nn.attention.flex_attention with a block mask for others; nested tensors or cu_seqlens for padding"},
	verify:   "attention is called without attn_mask",
	find: func(r *run) *found {
		masked := map[int32]bool{} // by the number that autograd gave an operator
		var calls []cdg.ActID
		for _, a := range r.named(opKinds, func(s string) bool {
			return s == "aten::scaled_dot_product_attention" || strings.HasPrefix(s, "autograd::engine::evaluate_function: ScaledDot")
		}) {
			e := r.g.Acts[a].Event
			n, _ := r.tr.Sequence(e)
			if c, _ := roofline.ReadCall(r.tr, e); len(c.In) > 3 && len(c.In[0].Dims) == 4 {
				mask, queries := c.In[3].Dims, c.In[0].Dims[2]
				if k := len(mask) - 2; k < 0 || queries < longMask || mask[k] != queries || mask[k+1] < queries {
					continue
				}
				masked[n] = true
			}
			if masked[n] {
				calls = append(calls, a)
			}
		}
		around := r.within(calls)
		var list []cdg.ActID
		for _, a := range r.named(gpuKernel, containsAny("attention", "sdpa", "fmha", "flash")) {
			if around.by(a) != cdg.NoAct {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "kernel", "kernels", "is_causal=True in place of a mask")
		f.change.scale(list, func(_ cdg.ActID, own int64) int64 { return own / 2 })
		return f
	},
})
