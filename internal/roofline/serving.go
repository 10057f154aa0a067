package roofline

import (
	"cmp"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// What servers run beside PyTorch's own operators: each library has names of its own for a few kinds of work, often with a number behind
// (sglang_profiler::rmsnorm_rmsnorm2d_fwd_109). They are known by a part of the name behind the namespace; the first that fits holds. Those
// without a model are known to do something else besides.
var families = []struct {
	part    string
	model   model
	product bool
}{
	{"allreduce", nil, false}, {"all_reduce", nil, false}, {"quant_moe_sort", nil, false},
	{"kv_cache_update", stored, false}, {"set_kv_buffer", stored, false}, {"store_cache", stored, false}, {"reshape_and_cache", stored, false}, {"cat_and_cache", stored, false},
	{"rmsnorm", normed, false}, {"rms_norm", normed, false},
	{"rotary", rotated, false}, {"apply_rope", rotated, false}, {"rope_cached", rotated, false},
	{"_and_mul", gated, false},
	{"moe_forward", expertsWithin, true}, {"invoke_fused_moe", stage(0), true}, {"moe_stage1", stage(0), true}, {"moe_stage2", stage(1), true}, {"stages_gemm", stage(0), true},
	{"fused_experts", experts, true}, {"fused_moe", experts, true}, {"fmoe_", experts, true}, {"moe_gemm", stage(0), true}, {"grouped_gemm", stage(0), true},
	{"batched_gemm", batched, true},
	{"scaled_mm", byRows, true}, {"fp4_mm", byRows, true}, {"fp4_gemm", byRows, true}, {"fp8_gemm", byRows, true}, {"gemm_fp8", byRows, true}, {"gemm_fp4", byRows, true}, {"gemm_a", byRows, true}, {"flatmm_a", byRows, true},
	{"a8w8_blockscale", byRows, true}, {"w8a8", byRows, true}, {"hgemm", byRows, true}, {"gemm_with_dynamic_quant", byRows, true}, {"unquantized_gemm", byRows, true},
	{"sampling_from", each(5, 1), false}, {"top_k_top_p", each(5, 1), false}, {"topk", each(5, 1), false},
	{"paged_attention", paged, true}, {"unified_attention", paged, true}, {"unified_mla_attention", latent, true}, {"mla_decode", paged, true}, {"flash_mla", paged, true}, {"flash_attn_varlen", paged, true}, {"varlen_fwd", paged, true},
	{"fwd_kvcache", paged, true}, {"batch_decode", paged, true}, {"batch_prefill", paged, true}, {"pa_decode", paged, true},
	{"mha_fwd", attention(0, 5, true, false), true}, {"fmha_v3_fwd", attention(0, 5, true, false), true}, {"flash_attn_forward", attention(0, 5, true, false), true},
	{"quant", moved, false}, {"moe_sum", moved, false},
}

// modelOf is the model of an operator and whether its work is a product; nil where there is none.
func modelOf(name string) (model, bool) {
	if m := models[name]; m != nil {
		return m, isProduct[name]
	}
	space, own, ok := strings.Cut(name, "::")
	if !ok || space == "aten" || space == "autograd" {
		return nil, false
	}
	for i := range families {
		if strings.Contains(own, families[i].part) {
			return families[i].model, families[i].product
		}
	}
	return nil, false
}

// matrices are the inputs that are tensors of a known type with so many dimensions or more.
func (c *Call) matrices(dims int) (list []*Tensor) {
	for i := range c.In {
		if t := &c.In[i]; t.Size > 0 && len(t.Dims) >= dims {
			list = append(list, t)
		}
	}
	return list
}

// normed reads and writes each matrix that it is given once in all: an input and a result, with a residual two of each.
func normed(c *Call) (Work, bool) {
	list := c.matrices(2)
	if len(list) == 0 {
		return Work{}, false
	}
	w := Work{Flops: times(4, list[0].Len()), Type: list[0].Type, Exact: c.Strides}
	for _, t := range list {
		w.Bytes += t.Bytes()
	}
	if len(list) == 1 || len(list) == 2 && strings.Contains(c.Name, "add") { // results are returned, or overwrite what was given
		w.Bytes *= 2
	}
	return w, true
}

// gated multiplies one half of a matrix with a function of the other: the result may be given, too.
func gated(c *Call) (Work, bool) {
	list := c.matrices(2)
	if len(list) == 0 {
		return Work{}, false
	}
	most := list[0]
	for _, t := range list {
		if t.Len() > most.Len() {
			most = t
		}
	}
	return Work{Flops: times(5, most.Len()/2), Bytes: most.Bytes() / 2 * 3, Type: most.Type, Exact: c.Strides}, true
}

// rotated turns queries and keys in place: positions, query, key, …
func rotated(c *Call) (Work, bool) {
	list := c.matrices(2)
	if len(list) == 0 {
		return Work{}, false
	}
	w := Work{Type: list[0].Type, Exact: c.Strides}
	for _, t := range list[:min(2, len(list))] {
		w.Flops, w.Bytes = w.Flops+times(3, t.Len()), w.Bytes+2*t.Bytes()
	}
	return w, true
}

// stored writes keys and values, the first two inputs, to their places in the cache.
func stored(c *Call) (Work, bool) {
	if !c.tensors(2) || len(c.In[0].Dims) < 2 {
		return Work{}, false
	}
	return Work{Bytes: 2 * (c.In[0].Bytes() + c.In[1].Bytes()), Type: c.In[0].Type, Exact: c.Strides}, true
}

// moved reads or writes each matrix that it is given once.
func moved(c *Call) (Work, bool) {
	list := c.matrices(2)
	if len(list) == 0 {
		return Work{}, false
	}
	w := Work{Type: list[0].Type, Exact: c.Strides}
	for _, t := range list {
		w.Bytes += t.Bytes()
	}
	return w, true
}

// float4 is the type of two values a byte, as PyTorch calls it; before there was one libraries gave bytes.
const float4 = "c10::float4_e2m1fn_x2"

// packs is how many values of the inner dimension lie in one element of an input, by the length that its partner has there: two of four bits, or
// one; 0 where they do not fit.
func packs(own, other int64) int64 {
	switch other {
	case own:
		return 1
	case 2 * own:
		return 2
	}
	return 0
}

// byRows is a product with weights that lie a row an output, or a column: what fits the inner dimension. Weights of four bits are half as long
// as sixteen-bit inputs.
func byRows(c *Call) (Work, bool) {
	list := c.matrices(2)
	for i := 1; i < len(list); i++ {
		x, y := list[i-1], list[i]
		k := x.Dims[len(x.Dims)-1]
		if len(y.Dims) != 2 {
			continue
		}
		n := y.Dims[0]
		switch {
		case k == y.Dims[1]:
		case k == y.Dims[0]:
			n = y.Dims[1]
		case y.Size == 1 && packs(y.Dims[1], k) == 2:
		default:
			continue
		}
		w := Work{Matrix: true, Type: x.Type, Exact: c.Strides}
		if four := strings.Contains(c.Name, "fp4") || strings.Contains(c.Name, "a4w4") || strings.EqualFold(x.Type, float4); four && x.Size == 1 && y.Size == 1 {
			k, w.Type = 2*k, float4
		}
		out := times(x.Len()/max(x.Dims[len(x.Dims)-1], 1), n)
		w.Flops, w.Bytes = times(times(2, out), k), x.Bytes()+y.Bytes()+out*max(x.Size, 2)
		return w, true
	}
	return Work{}, false
}

// batched is a product for each of several weights that lie a row an output: inputs have their dimension in front or second.
func batched(c *Call) (Work, bool) {
	if !c.tensors(2) || len(c.In[0].Dims) != 3 || len(c.In[1].Dims) != 3 {
		return Work{}, false
	}
	x, y := &c.In[0], &c.In[1]
	k := x.Dims[2]
	if y.Dims[0] != x.Dims[0] && y.Dims[0] != x.Dims[1] || packs(y.Dims[2], k) == 0 {
		return Work{}, false
	}
	out := times(x.Dims[0]*x.Dims[1], y.Dims[1])
	return Work{Flops: times(times(2, out), k), Bytes: x.Bytes() + y.Bytes() + out*max(x.Size, 2), Matrix: true, Type: x.Type, Exact: c.Strides}, true
}

// expertsWithin is a layer of experts that is given only tokens and, for each, how much each expert suits it (vLLM's moe_forward finds the
// weights by the name of the layer). What it calls has the rest: how many experts take a token is said to the operator that picks them, and the
// weights of all experts are viewed, maybe as bytes of two values each.
func expertsWithin(c *Call) (Work, bool) {
	list := c.matrices(2)
	if len(list) < 2 || len(list[0].Dims) != 2 || len(list[1].Dims) != 2 || list[0].Dims[0] != list[1].Dims[0] || c.Within == nil {
		return Work{}, false
	}
	x, chosen, weights := list[0], int64(0), []*Tensor(nil)
	all, width := list[1].Dims[1], x.Dims[1]
	for _, in := range c.Within() {
		if chosen == 0 && strings.Contains(strings.ToLower(in.Name), "topk") && len(in.In) > 0 && slices.Equal(in.In[0].Dims, list[1].Dims) && len(in.Concrete) > 1 {
			if n := numbers(in.Concrete[1]); len(n) == 1 && n[0] > 0 && n[0] <= all {
				chosen = n[0]
			}
		}
		for i := range in.In {
			t := &in.In[i]
			if len(t.Dims) == 3 && t.Dims[0] == all && t.Size > 0 && len(weights) < 2 {
				weights = append(weights, t)
			}
		}
	}
	if chosen == 0 || len(weights) < 2 {
		return Work{}, false
	}
	packed := packs(weights[0].Dims[2], width)
	if packed == 0 {
		packed = packs(weights[0].Dims[1], width)
	}
	if packed == 0 {
		return Work{}, false
	}
	return c.taken(x, weights, times(x.Dims[0], chosen), packed, 2*x.Bytes()), true
}

// weightsOf are the weights of experts: three dimensions, of which the first counts the experts, and no result, which has the choices of a token
// second.
func (c *Call) weightsOf() (list []*Tensor) {
	for _, t := range c.matrices(3) {
		if len(t.Dims) == 3 && t.Dims[1] > choices && t.Dims[2] > choices && (list == nil || t.Dims[0] == list[0].Dims[0]) {
			list = append(list, t)
		}
	}
	return list
}

// choices is how many experts take a token at most.
const choices = 64

// experts is a layer of experts: tokens, weights of one expert after the other (one or two of them), and for each token the numbers of the
// experts that take it, or how many (the ninth input of AITER's). Of the weights it reads those of the experts that are taken, of few tokens no
// more than one for each choice.
func experts(c *Call) (Work, bool) {
	weights := c.weightsOf()
	if len(weights) == 0 {
		return Work{}, false
	}
	var x *Tensor
	chosen, packed := int64(0), int64(0)
	for _, t := range c.matrices(2) {
		switch n := t.Dims[len(t.Dims)-1]; {
		case len(t.Dims) != 2:
		case x != nil && t.Dims[0] == x.Dims[0] && n <= choices && strings.Contains(t.Type, "int"):
			chosen = n
		case packs(weights[0].Dims[2], n) > 0 && (x == nil || t.Size < x.Size): // what is computed with, not the result
			x, packed = t, packs(weights[0].Dims[2], n)
		}
	}
	if chosen == 0 && strings.Contains(c.Name, "fmoe_") && len(c.Concrete) > 8 {
		if n := numbers(c.Concrete[8]); len(n) == 1 && n[0] <= choices {
			chosen = n[0]
		}
	}
	if x == nil || chosen <= 0 {
		return Work{}, false
	}
	return c.taken(x, weights[:min(2, len(weights))], times(x.Dims[0], chosen), packed, 2*x.Bytes()), true
}

// stage is one product of a layer of experts, with its first or second weights where there are both: its rows are the rows of its input or of its output,
// whichever has one row for each chosen expert of a token.
func stage(which int) model {
	return func(c *Call) (Work, bool) {
		weights := c.weightsOf()
		if len(weights) == 0 {
			return Work{}, false
		}
		w := weights[min(which, len(weights)-1)]
		var x *Tensor
		rows, bytes, packed := int64(0), int64(0), int64(0)
		for _, t := range c.matrices(2) {
			n := t.Dims[len(t.Dims)-1]
			in, out := packs(w.Dims[2], n), n == w.Dims[1] || 2*n == w.Dims[1] // a gate halves what it writes
			if slices.Contains(weights, t) || len(t.Dims) > 3 || n <= choices || in == 0 && !out {
				continue
			}
			if x == nil && in > 0 {
				x, packed = t, in
			}
			rows, bytes = max(rows, t.Len()/n), bytes+t.Bytes()
		}
		if x == nil {
			return Work{}, false
		}
		return c.taken(x, []*Tensor{w}, rows, packed, bytes), true
	}
}

// taken is the work of rows of tokens with weights of the experts that take them.
func (c *Call) taken(x *Tensor, weights []*Tensor, rows, packed, bytes int64) Work {
	w := Work{Bytes: bytes, Matrix: true, Type: x.Type, Exact: c.Strides}
	for _, t := range weights {
		w.Flops += times(times(2*packed, rows), t.Dims[1]*t.Dims[2])
		w.Bytes += t.Bytes() / max(t.Dims[0], 1) * min(t.Dims[0], rows)
	}
	return w
}

// paged is attention over a cache of keys and values, of which the call does not say how long they are: the name of the iteration does. Queries
// are tokens, heads, size, or first of all a batch; keys and values may have fewer heads, in MLA one that is both.
func paged(c *Call) (Work, bool) {
	list := c.matrices(3)
	if c.Iteration == nil || len(list) < 2 || len(list[0].Dims) > 4 {
		return Work{}, false
	}
	q := list[0]
	heads, size := q.Dims[len(q.Dims)-2], q.Dims[len(q.Dims)-1]
	shared, cache := int64(0), q
	for _, t := range list[1:] {
		d := t.Dims
		n := d[len(d)-2]
		switch {
		case d[len(d)-1] == size:
		case len(d) == 5 && d[2]*d[4] == size, len(d) == 4 && d[2] == size: // blocks, heads, size / x, tokens, x; and blocks, heads, size, tokens
			n = d[1]
		default:
			continue
		}
		if n > 0 && heads%n == 0 && (shared == 0 || n < shared) {
			shared, cache = n, t
		}
	}
	if shared == 0 {
		return Work{}, false
	}
	per, kept := times(4*heads, size), times(2*shared, size) // operations for a pair of query and key; values kept for a key
	if shared == 1 && size > 512 {                           // MLA: 512 of the 576 are the value
		per, kept = times(2*heads, size+512), size
	}
	return c.attended(q, func(*trace.Requests) int64 { return per }, kept*cache.Size, times(2*heads, size))
}

// latent is vLLM's multi-head latent attention: queries (tokens, heads, size), what the cache keeps of a token (latent values, and the part with
// positions that all heads share), and the result. Decode computes in the latent space, prefill with keys and values made from it.
func latent(c *Call) (Work, bool) {
	if c.Iteration == nil || !c.tensors(3) || len(c.In[0].Dims) != 3 || len(c.In[1].Dims) != 2 || len(c.In[2].Dims) < 2 {
		return Work{}, false
	}
	q, kept, turned := &c.In[0], c.In[1].Dims[1], c.In[2].Dims[len(c.In[2].Dims)-1]
	heads, size := q.Dims[1], q.Dims[2]
	out := size - turned // values are as long as keys without positions
	per := func(r *trace.Requests) int64 {
		if r == &c.Iteration.Decode {
			return times(2*heads, 2*kept+turned)
		}
		return times(2*heads, size+out)
	}
	return c.attended(q, per, (kept+turned)*c.In[1].Size, times(heads, size+out))
}

// attended is attention of the requests of the iteration: operations for a pair of query and key of each phase, bytes that the cache keeps for a
// key, and values of queries and results for a token.
func (c *Call) attended(q *Tensor, per func(*trace.Requests) int64, kept, token int64) (Work, bool) {
	w := Work{Matrix: true, Type: q.Type, Exact: true}
	for _, r := range [...]*trace.Requests{&c.Iteration.Prefill, &c.Iteration.Decode} {
		if r.Count == 0 {
			continue
		}
		pairs, keys := r.Pairs, r.Keys
		if pairs < 0 || keys < 0 || r.Tokens < 0 {
			return Work{}, false
		}
		if r == &c.Iteration.Prefill {
			pairs -= max(r.Squares, 0) / 2 // later tokens of the prompt are not looked at
		}
		w.Flops += times(per(r), max(pairs, 0))
		w.Bytes += times(keys, kept) + times(r.Tokens, token*q.Size)
	}
	return w, w.Bytes > 0
}

// within lists what an operator called, as far as a model may ask for: the operators that begin and end inside of it on its thread.
func (m *Meter) within(tr *trace.Trace, op trace.EventID) []Call {
	order, ok := m.threads[tr]
	if !ok {
		for i := range tr.Events {
			if e := &tr.Events[i]; e.Kind == trace.CPUOp && e.Track != trace.NoTrack {
				order = append(order, trace.EventID(i))
			}
		}
		slices.SortStableFunc(order, func(a, b trace.EventID) int {
			x, y := &tr.Events[a], &tr.Events[b]
			return cmp.Or(cmp.Compare(x.Track, y.Track), cmp.Compare(x.Start, y.Start))
		})
		if m.threads == nil {
			m.threads = map[*trace.Trace][]trace.EventID{}
		}
		m.threads[tr] = order
	}
	e := &tr.Events[op]
	from, _ := slices.BinarySearchFunc(order, e, func(id trace.EventID, e *trace.Event) int {
		return cmp.Or(cmp.Compare(tr.Events[id].Track, e.Track), cmp.Compare(tr.Events[id].Start, e.Start))
	})
	var out []Call
	for _, id := range order[from:min(from+most, len(order))] {
		in := &tr.Events[id]
		if in.Track != e.Track || in.Start >= tr.End(e) {
			break
		}
		if c, ok := ReadCall(tr, id); ok && id != op {
			out = append(out, c)
		}
	}
	return out
}

// most is how many operators inside of one are looked at.
const most = 1000

// recorded measures operators of which only a capture recorded shapes: those around the operations of replayed graphs.
func (m *Meter) recorded() []Row {
	g, tr := m.g, m.g.Trace
	if tr.Origins == nil {
		return nil
	}
	type key struct {
		call, op trace.EventID
		of       *trace.Trace
	}
	at := map[key]int{}
	type called struct {
		key
		kernels []cdg.ActID
	}
	var list []called
	for l := range g.Lanes {
		for k := g.Lanes[l].First; g.Lanes[l].Stream && k < g.Lanes[l].Limit; k++ {
			if start := g.Acts[k].Start; start < g.Window.Start || start >= g.Window.End {
				continue
			}
			o := tr.Origin(g.Acts[k].Event)
			if o == nil {
				continue
			}
			for _, op := range o.Operators {
				if f, _ := modelOf(o.Trace.Name(op)); f == nil {
					continue
				}
				id := key{tr.Launch(g.Acts[k].Event), op, o.Trace}
				i, ok := at[id]
				if !ok {
					i = len(list)
					at[id], list = i, append(list, called{key: id})
				}
				list[i].kernels = append(list[i].kernels, k)
				break
			}
		}
	}
	var out []Row
	for i := range list {
		x := &list[i]
		c, ok := ReadCall(x.of, x.op)
		if !ok {
			continue
		}
		c.Iteration = m.iteration(tr.Events[x.call].Start)
		c.Within = func() []Call { return m.within(x.of, x.op) }
		f, _ := modelOf(c.Name)
		work, ok := f(&c)
		if !ok || work.Bytes <= 0 {
			continue
		}
		if r, ok := m.rowOf(g.ActOf[x.call], work, x.kernels); ok {
			r.Name = c.Name
			out = append(out, r)
		}
	}
	return out
}
