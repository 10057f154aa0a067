package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

const (
	farBelow     = 0.4    // of what a device can do, what a product reaches that is worth a word
	wellShaped   = 0.7    // of it, what large products of good shapes reach
	idealProduct = 10_000 // ns at the peaks, below which a product is too short to fill a device
	farWorth     = 0.02   // of the window, what such products hold of the critical path
)

// Which shapes are slow is in the documents of the libraries: a maker's guide to the performance of matrix products has sizes that are no multiples
// of 8 at 16 bits, waves that do not fill the device, and short dimensions of accumulation.
var _ = add(rule{
	id: "far-below-roofline", group: Specific, torch: true, class: critpath.ClassCompute, kind: AtMost, level: Low,
	why:      "the peaks are those of data sheets; how near a product of these shapes can come is not known",
	title:    "products of matrices run far below what the device can do",
	cause:    "their sizes fit neither the tiles of the kernels nor the number of multiprocessors, or the library chose a bad kernel",
	scenario: "each product that reaches less than 40 % of what its FLOPs and bytes allow reaches 70 %",
	action: []string{"sizes that are multiples of 64: pad vocabulary, heads, batch", "products of one shape in one batch: torch.bmm, larger batches",
		"other kernels: torch.compile(mode=\"max-autotune\")"},
	verify: "the roofline of these operators rises",
	find: func(r *run) *found {
		var list, attention []cdg.ActID
		ideal := map[cdg.ActID]int64{}
		products := r.products()
		for i := range products {
			row := &products[i]
			d := r.device(row.Device)
			if d == nil || row.Ideal < idealProduct || row.Assumed || trace.ElementSize(row.Type) > 2 {
				continue // fp32 is a finding of its own
			}
			best := float64(row.Ideal)
			if d.Achievable > 0 {
				best /= d.Achievable
			}
			if best > farBelow*float64(row.NS) {
				continue
			}
			for _, k := range row.Kernels {
				if ownDepthwise(r.name(k)) { // a finding of its own
					continue
				}
				if strings.Contains(r.name(row.Op), "attention") {
					attention = append(attention, k)
				} else {
					list = append(list, k)
				}
				ideal[k] = int64(best / wellShaped * float64(r.own(k)) / float64(max(row.NS, 1)))
			}
		}
		fused := r.criticalOf(attention) > r.criticalOf(list)
		if fused {
			list = attention
		}
		critical, busy := r.criticalOf(list), sum(list, r.own)
		if float64(critical) < farWorth*float64(r.window) {
			return nil
		}
		f := &found{events: events{list: list}, change: r.scenario(), do: "pad sizes to multiples of 64, or batch the products",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(list), "kernel"), tables.Duration(busy)),
			numbers: []Number{countOf("kernels", len(list)), timeOf("in them", busy), timeOf("on the critical path", critical)}}
		if fused {
			f.title, f.cause, f.do = "attention runs far below what the device can do", "its kernel was written for an older device, or has too few rows to work on", "another backend of attention, such as FlashAttention-3"
			f.action = []string{"torch.nn.attention.sdpa_kernel(SDPBackend.CUDNN_ATTENTION); FlashAttention-3 on Hopper", "longer or more sequences in one call"}
		}
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return min(own, ideal[a]) })
		return f
	},
})
