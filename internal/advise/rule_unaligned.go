package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/roofline"
)

const (
	alignedTo    = 8      // elements of two bytes: 16 bytes, as NVIDIA's guide to matrix products asks for
	alignLeast   = 256    // columns below which another limit binds
	alignProduct = 20_000 // ns
	alignSlower  = 0.9    // share of what aligned ones reach from which on nothing is wrong
	alignMemory  = 0.5    // share of the memory's bandwidth from which on that is the limit
)

var _ = add(rule{
	id: "unaligned-matmul", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "shapes are recorded; how much alignment gains depends on the library",
	title:    "matrix products have rows of odd length",
	cause:    "tensor cores want rows of a multiple of 16 bytes; others are read in small pieces",
	scenario: "each such product reaches the share of the peak that aligned ones of the trace reach, else half of it",
	action:   []string{"pad vocabulary, hidden size or classes to a multiple of 64, with 8 at the least"},
	verify:   "share of the peak of these products in the roofline",
	find: func(r *run) *found {
		if !r.tr.Shapes {
			return nil
		}
		var odd []roofline.Row
		var aligned []float64
		inAttention := r.inAttention()
		for _, row := range r.products() {
			if row.NS < alignProduct || row.Compute <= 0 || inAttention(row.Kernels) {
				continue
			}
			n, k, ok := r.columns(&row)
			switch {
			case !ok || min(n, k) < alignLeast:
			case n%alignedTo == 0 && k%alignedTo == 0:
				aligned = append(aligned, row.Compute)
			case row.Memory < alignMemory:
				odd = append(odd, row)
			}
		}
		usual := 0.5
		if len(aligned) >= 3 {
			slices.Sort(aligned)
			usual = aligned[len(aligned)/2]
		}
		var list []cdg.ActID
		share := map[cdg.ActID]float64{}
		for _, row := range odd {
			if row.Compute < alignSlower*usual {
				list = append(list, row.Main)
				share[row.Main] = row.Compute / usual
			}
		}
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "product", "products", "pad vocabulary or hidden size to a multiple of 64")
		f.numbers = append(f.numbers, countOf("aligned ones to compare with", len(aligned)))
		f.change.scale(list, func(a cdg.ActID, own int64) int64 { return int64(share[a] * float64(own)) })
		return f
	},
})

// inAttention tells kernels between which an unfused attention was found: its products are bound by memory.
func (r *run) inAttention() func([]cdg.ActID) bool {
	near := r.m.NewSet()
	if f := r.result(attentionUnfused); f != nil {
		for _, a := range f.events.list {
			for d := cdg.ActID(-nearProduct); d <= nearProduct; d++ {
				if b := a + d; b >= 0 && int(b) < len(r.g.Acts) && r.g.Acts[b].Lane == r.g.Acts[a].Lane && !near.Has(b) && r.batched(b) {
					near.Add(b)
				}
			}
		}
	}
	return func(list []cdg.ActID) bool { return slices.ContainsFunc(list, near.Has) }
}

// matrixAt is which input of a product is its first matrix.
var matrixAt = map[string]int{"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}

// columns are the columns of the result and the length of the sums of a product of matrices of two bytes an element.
func (r *run) columns(row *roofline.Row) (n, k int64, ok bool) {
	first, known := matrixAt[r.name(row.Op)]
	if !known || roofline.ElementSize(row.Type) != 2 {
		return 0, 0, false
	}
	c, ok := roofline.ReadCall(r.tr, r.g.Acts[row.Op].Event)
	if !ok || len(c.In) < first+2 {
		return 0, 0, false
	}
	a, b := &c.In[first], &c.In[first+1]
	if a.Size != 2 || b.Size != 2 || len(a.Dims) < 2 || len(b.Dims) < 2 {
		return 0, 0, false
	}
	return b.Dims[len(b.Dims)-1], a.Dims[len(a.Dims)-1], true
}
