package advise

import (
	"fmt"
	"sort"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/roofline"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// Decode reads all weights and all of the cache for one token of each request: at the shapes that were recorded its products move more than
// they compute (the roofline). Eight bits a value are half of the bytes of sixteen.
var _ = add(rule{
	id: "decode-memory-bound", group: Specific, class: critpath.ClassCompute, kind: AtMost, level: Low, limit: 0.05,
	why:      "how much of half of the bytes a kernel for fewer bits gains is not known",
	title:    "decode reads weights and cache for few tokens",
	cause:    "its products move more bytes than they compute with: they are as fast as the memory, however few tokens there are",
	scenario: "products and attention that are nearer to the peak of memory than to that of compute move half of their bytes",
	action:   []string{"weights of 8 bits (fp8), and a cache of 8 bits", "more requests in a batch: a token costs less, an iteration not more", "speculative decoding: several tokens for one reading of the weights"},
	verify:   "the iteration gets shorter, or tokens per second rise",
	find: func(r *run) *found {
		steps, served := served(r, trace.Decode), len(served(r, trace.NoIteration)) > 0
		if served && len(steps) == 0 {
			return nil
		}
		rows := r.products()
		if served {
			rows = roofline.NewMeter(r.g).Rows()
		}
		var list []cdg.ActID
		bytes, busy, can := int64(0), int64(0), 0.0
		for i := range rows {
			row := &rows[i]
			d := r.device(row.Device)
			if d == nil || !row.Matrix || !row.MemoryLimited() || trace.ElementSize(row.Type) != 2 || served && !oneAt(steps, r.g.Acts[row.Op].Start) || !served && !readsWeights(r, row) {
				continue
			}
			list = append(list, row.Kernels...)
			bytes, busy, can = bytes+row.Bytes, busy+row.NS, can+float64(row.NS)*d.GBs
		}
		if busy == 0 {
			return nil
		}
		reached := float64(bytes) / can
		if !served && reached < nearBandwidth {
			return nil // these are too short for either peak
		}
		f := &found{cause: fmt.Sprintf("its products read all weights for few tokens: they reach %s of the memory's bandwidth, and compute little", tables.FormatShare(reached)),
			events: events{list: list}, change: r.scenario(), do: "weights and cache of 8 bits, or larger batches",
			saw:     fmt.Sprintf("%s at %s of the bandwidth", tables.Duration(busy), tables.FormatShare(reached)),
			numbers: []Number{countOf("products", len(list)), timeOf("in these kernels", busy), bytesOf("that they have to move", bytes)}}
		f.change.scale(list, func(_ cdg.ActID, own int64) int64 { return own / 2 })
		return f
	},
})

const (
	fewRows       = 64  // that a product has beside its weights, where it is bound by reading these
	nearBandwidth = 0.4 // of the memory's, what such products reach together
)

// readsWeights reports whether a product has few rows for large weights, as decode has that is no server's: what PyTorch reports of gpt-fast is
// bound by reading weights, and weights of 8 bits make it faster.
func readsWeights(r *run, row *roofline.Row) bool {
	c, ok := roofline.ReadCall(r.tr, r.g.Acts[row.Op].Event)
	if !ok {
		return false
	}
	var x []*roofline.Tensor
	for i := range c.In {
		if len(c.In[i].Dims) == 2 {
			x = append(x, &c.In[i])
		}
	}
	return len(x) == 2 && x[0].Dims[0] <= fewRows && x[1].Bytes() > 8*x[0].Bytes()
}

// oneAt reports whether a time lies in one of some steps, which are in order.
func oneAt(steps []cdg.Step, at int64) bool {
	i := sort.Search(len(steps), func(i int) bool { return steps[i].Start > at }) - 1
	return i >= 0 && at < steps[i].End
}
