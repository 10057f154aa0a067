package roofline

func init() {
	registerProduct(attention(0, 8, true, false), "_flash_attention_forward")
	registerProduct(attention(0, 9, true, false), "_efficient_attention_forward")
	registerProduct(attention(0, 6, false, false), "_scaled_dot_product_cudnn_attention")
	registerProduct(attention(1, 11, true, true), "_flash_attention_backward")
	registerProduct(attention(1, 14, true, true), "_efficient_attention_backward")
	registerProduct(attention(1, 14, false, true), "_scaled_dot_product_cudnn_attention_backward")
}

// attention is softmax(Q·Kᵀ)·V, whose weights never leave the chip: Q, K and V from a place on, each of four dimensions, with the
// heads last but one or, where not headsLate, second. Whether it is causal, which halves it, stands at a place of its own;
// where it was not recorded it counts as half. Backward computes five products where forward computes two.
func attention(at, causal int, headsLate, backward bool) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(at+3) || len(c.In[at].Dims) != 4 || len(c.In[at+1].Dims) != 4 || len(c.In[at+2].Dims) != 4 {
			return Work{}, false // several sequences in one tensor: their lengths are not recorded
		}
		q, k, v := &c.In[at], &c.In[at+1], &c.In[at+2]
		heads, length := q.Dims[1], 2
		if headsLate {
			heads, length = q.Dims[2], 1
		}
		pairs := times(times(q.Dims[0], heads), times(q.Dims[length], k.Dims[length]))
		per := times(2, q.Dims[3]+v.Dims[3])
		out := times(times(q.Dims[0], heads), times(q.Dims[length], v.Dims[3]))
		w := Work{Matrix: true, Type: q.Type, Exact: c.Strides, Bytes: q.Bytes() + k.Bytes() + v.Bytes() + out*q.Size}
		if backward {
			per = times(2, 3*q.Dims[3]+2*v.Dims[3])
			w.Bytes = 2*w.Bytes + out*q.Size
		}
		w.Flops = times(pairs, per)
		if causal >= len(c.Concrete) || c.Concrete[causal] != "False" && c.Concrete[causal] != "0" {
			w.Flops /= 2
		}
		return w, true
	}
}
