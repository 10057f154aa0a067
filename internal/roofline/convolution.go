package roofline

import "strings"

func init() {
	registerProduct(convolution(3, 4, 5), "convolution", "_convolution", "convolution_overrideable")
	registerProduct(convolution(3, 2, 4), "cudnn_convolution")
	registerProduct(convolution(4, 3, 5), "miopen_convolution", "miopen_depthwise_convolution")
	registerProduct(convolution(4, 5, 6), "_conv_depthwise2d")
	registerProduct(convolutionBackward(0, 1, 2), "convolution_backward")
	registerProduct(convolutionBackward(1, 0, 2), "cudnn_convolution_backward", "miopen_convolution_backward")
	registerProduct(transposed, "cudnn_convolution_transpose", "miopen_convolution_transpose")
}

// gradientOf says which input is the gradient of the result.
var gradientOf = map[string]int{"aten::convolution_backward": 0, "aten::cudnn_convolution_backward": 1, "aten::miopen_convolution_backward": 1}

// convolution is the direct form: each value of the result is a product over the channels and the kernel. The arguments
// are at so many places; where they were not recorded, gradient has the shape of the result.
func convolution(stride, padding, dilation int) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(2) || len(c.In[0].Dims) < 3 || len(c.In[0].Dims) != len(c.In[1].Dims) {
			return Work{}, false
		}
		x, w := &c.In[0], &c.In[1]
		if stride == 3 && padding == 4 && len(c.Concrete) > 6 && c.Concrete[6] == "True" {
			return transposed(c)
		}
		value := func(at, d int, otherwise int64) int64 {
			if at >= len(c.Concrete) {
				return otherwise
			}
			list := numbers(c.Concrete[at])
			switch {
			case len(list) == 1:
				return list[0]
			case d < len(list):
				return list[d]
			}
			return otherwise
		}
		places := x.Dims[0] // results of one channel
		if len(c.Concrete) <= max(stride, padding, dilation) {
			if g := c.Gradient; len(g) != len(x.Dims) || g[0] != x.Dims[0] || g[1] != w.Dims[0] {
				return Work{}, false
			}
			return convolve(c, x, w, times(places, product(c.Gradient[2:])), 1), true
		}
		for d := range x.Dims[2:] {
			n := (x.Dims[d+2]+2*value(padding, d, 0)-value(dilation, d, 1)*(w.Dims[d+2]-1)-1)/max(value(stride, d, 1), 1) + 1
			if n <= 0 {
				return Work{}, false
			}
			places = times(places, n)
		}
		return convolve(c, x, w, places, 1), true
	}
}

// transposed is a transposed convolution: each value of the input is multiplied with the kernel. How large the result is
// does not matter to that; it is left out of the bytes.
func transposed(c *Call) (Work, bool) {
	if !c.tensors(2) || len(c.In[0].Dims) < 3 || len(c.In[0].Dims) != len(c.In[1].Dims) {
		return Work{}, false
	}
	x, w := &c.In[0], &c.In[1]
	return Work{Flops: times(times(2*x.Dims[0], product(x.Dims[2:])), w.Len()), Bytes: x.Bytes() + w.Bytes(), Matrix: true, Type: x.Type, Exact: c.Strides}, true
}

// convolve is the work of so many convolutions of x and w, with so many results of one channel.
func convolve(c *Call, x, w *Tensor, places, n int64) Work {
	out := times(places, w.Dims[0])
	return Work{Flops: times(times(2*n, places), w.Len()), Bytes: x.Bytes() + w.Bytes() + times(out, x.Size), Matrix: true, Type: x.Type, Exact: c.Strides}
}

// convolutionBackward computes the gradients of the input and of the weight, or one of them; its inputs are at so many places.
func convolutionBackward(grad, input, weight int) model {
	return func(c *Call) (Work, bool) {
		if !c.tensors(3) || len(c.In[grad].Dims) < 3 || len(c.In[weight].Dims) < 3 {
			return Work{}, false
		}
		g, x, w := &c.In[grad], &c.In[input], &c.In[weight]
		n := int64(2)
		for _, s := range c.Concrete {
			if strings.HasPrefix(s, "[True,") || strings.HasPrefix(s, "[False,") { // input, weight, bias
				parts := strings.Split(s, ",")
				n = 0
				for _, p := range parts[:2] {
					if strings.Contains(p, "True") {
						n++
					}
				}
			}
		}
		places := times(g.Dims[0], product(g.Dims[2:]))
		if n == 0 || g.Dims[1] != w.Dims[0] { // that of a transposed convolution
			return Work{}, false
		}
		work := convolve(c, x, w, places, n)
		work.Bytes += (x.Bytes() + w.Bytes()) * (n - 1)
		return work, true
	}
}
