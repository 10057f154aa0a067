package roofline

import "strings"

// Work is what an operator computes and moves at least.
type Work struct {
	Flops  int64
	Bytes  int64
	Matrix bool   // a product, done by matrix units where there are some
	Type   string // of the inputs that are computed with
	Exact  bool   // strides were recorded, so nothing counts twice
}

// model counts the work of a call; false where the inputs are not what it needs.
type model func(c *Call) (Work, bool)

// isProduct are the names of those whose work is a product.
var isProduct = map[string]bool{}

// registerProduct registers a product.
func registerProduct(m model, names ...string) {
	register(m, names...)
	for _, n := range names {
		isProduct["aten::"+n] = true
	}
}

// models are those of operators, by name. Wrappers such as aten::linear have none: what they call has.
var models = map[string]model{}

func register(m model, names ...string) {
	for _, n := range names {
		models["aten::"+n] = m
	}
}

func init() {
	registerProduct(products(0, 1), "mm", "bmm", "mv", "_scaled_mm")
	registerProduct(products(1, 2), "addmm", "baddbmm", "addmv", "addbmm")
	register(each(8, 2), "native_layer_norm", "native_group_norm", "native_batch_norm", "cudnn_batch_norm", "miopen_batch_norm", "_fused_rms_norm", "_native_batch_norm_legit", "_batch_norm_impl_index")
	register(each(11, 3), "native_layer_norm_backward", "native_group_norm_backward", "native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward")
	register(each(5, 2), "_softmax", "_log_softmax")
	register(each(4, 3), "_softmax_backward_data", "_log_softmax_backward_data")
	register(each(1, 1), "sum", "mean", "max", "min", "amax", "amin", "argmax", "argmin", "norm", "linalg_vector_norm", "prod", "any", "all")
	register(each(0, 1), "fill_", "zero_")
	register(copied, "copy_")
	register(rows, "embedding", "index_select")
	inPlace := func(list ...string) (names []string) {
		for _, n := range list {
			names = append(names, n, n+"_")
		}
		return names
	}
	register(pointwise(false), inPlace("relu", "sigmoid", "tanh", "gelu", "silu", "exp", "log", "sqrt", "rsqrt", "neg", "abs", "sin", "cos", "reciprocal", "clamp", "clamp_min", "clamp_max", "pow", "hardtanh",
		"leaky_relu", "erf", "bitwise_not", "add", "sub", "mul", "div", "rsub", "addcmul", "addcdiv", "lerp", "where", "maximum", "minimum", "masked_fill", "native_dropout", "hardswish", "softplus")...)
	register(pointwise(false), "threshold_backward", "gelu_backward", "silu_backward", "sigmoid_backward", "tanh_backward", "hardtanh_backward", "leaky_relu_backward", "native_dropout_backward")
	register(pointwise(true), inPlace("eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or", "isnan", "isinf")...)
}

// tensors reports whether the first n inputs are tensors of types that are known.
func (c *Call) tensors(n int) bool {
	if len(c.In) < n {
		return false
	}
	for i := range n {
		if c.In[i].Size == 0 {
			return false
		}
	}
	return true
}

// products is a product of matrices, of vectors or of batches of them: inputs a and b.
func products(a, b int) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(b + 1) {
			return Work{}, false
		}
		x, y := &c.In[a], &c.In[b]
		if len(x.Dims) < 2 || len(y.Dims) < 1 || x.scalar() {
			return Work{}, false
		}
		k := x.Dims[len(x.Dims)-1]
		columns := int64(1)
		if len(y.Dims) >= 2 {
			columns = y.Dims[len(y.Dims)-1]
			if y.Dims[len(y.Dims)-2] != k {
				return Work{}, false
			}
		} else if y.Dims[0] != k {
			return Work{}, false
		}
		out := times(x.Len()/max(k, 1), columns)
		w := Work{Flops: times(times(2, out), k), Matrix: true, Type: x.Type, Exact: c.Strides}
		size := x.Size
		if size == 1 { // products of eight bits give sixteen and more
			size = 2
		}
		w.Bytes = x.Bytes() + y.Bytes() + out*size
		if a > 0 {
			w.Bytes += min(c.In[0].Bytes(), out*size)
		}
		return w, true
	}
}

// each computes and moves so much for each element of the first input.
func each(flops, moved int64) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(1) {
			return Work{}, false
		}
		t := &c.In[0]
		return Work{Flops: times(flops, t.stored()), Bytes: moved * t.Bytes(), Type: t.Type, Exact: c.Strides}, true
	}
}

func copied(c *Call) (Work, bool) {
	if !c.tensors(2) {
		return Work{}, false
	}
	return Work{Bytes: c.In[0].Bytes() + c.In[1].Bytes(), Type: c.In[0].Type, Exact: c.Strides}, true
}

// rows are rows of a table by their numbers, read and written; rows may repeat.
func rows(c *Call) (Work, bool) {
	index := 1
	if strings.HasSuffix(c.Name, "index_select") {
		index = 2
	}
	if len(c.In) <= index || c.In[0].Size == 0 || c.In[index].Size == 0 || len(c.In[0].Dims) != 2 || index == 2 && !(len(c.Concrete) > 1 && c.Concrete[1] == "0") {
		return Work{}, false
	}
	n := c.In[index].Len()
	row := c.In[0].Dims[1] * c.In[0].Size
	return Work{Bytes: times(n, row) + min(times(n, row), c.In[0].Bytes()) + c.In[index].Bytes(), Type: c.In[0].Type, Exact: c.Strides}, true
}

// pointwise computes each value of a result, as large as its inputs broadcast, from one of each input.
func pointwise(truth bool) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(1) {
			return Work{}, false
		}
		var shape []int64
		w := Work{Type: c.In[0].Type, Exact: c.Strides}
		size := int64(0)
		for i := range c.In {
			t := &c.In[i]
			if t.Size == 0 || t.scalar() {
				continue
			}
			w.Bytes += t.Bytes()
			size = max(size, t.Size)
			for len(shape) < len(t.Dims) {
				shape = append([]int64{1}, shape...)
			}
			for d := 1; d <= len(t.Dims); d++ {
				at := len(shape) - d
				shape[at] = max(shape[at], t.Dims[len(t.Dims)-d])
			}
		}
		if truth {
			size = 1
		}
		n := product(shape)
		w.Flops = n
		w.Bytes += times(n, size)
		return w, true
	}
}
