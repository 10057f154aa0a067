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
		softmax := func(s string) bool {
			s = strings.ToLower(s)
			return strings.Contains(s, "softmax") && !strings.Contains(s, "backward") && !strings.Contains(s, "log_softmax") && !strings.Contains(s, "logsoftmax")
		}
		for _, a := range r.named(gpuKernel, softmax) {
			before, after := productBeside(r, a, -1), productBeside(r, a, 1)
			if before == cdg.NoAct || after == cdg.NoAct || inBackward(r, a) {
				continue
			}
			n++
			products = append(products, before, after)
			for b := before + 1; b < after; b++ {
				between = append(between, b)
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
func productBeside(r *run, a, step cdg.ActID) cdg.ActID {
	lane := &r.g.Lanes[r.g.Acts[a].Lane]
	for i, b := 0, a+step; i <= nearProduct && b >= lane.First && b < lane.Limit; i, b = i+1, b+step {
		if batched(r, b) {
			return b
		}
	}
	return cdg.NoAct
}

// maybeBatched reports whether the name of a kernel is that of a product: 1 or 0.
func maybeBatched(name string) uint32 { return bit(gemms(name) || strings.Contains(name, "bmm")) }

// batched reports whether a kernel is a product of batches of matrices, by the operators around its launch.
func batched(r *run, a cdg.ActID) bool {
	if r.kind(a) != trace.Kernel || r.gemms.of(r.tr, r.syms[a]) == 0 {
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
