package advise

import (
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

var _ = add(rule{
	id: "fp64", group: Specific, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "that fp32 takes half of the time is a bound of the bytes moved; units for fp64 are slower still",
	title:    "kernels compute in double precision",
	cause:    "a double moves twice the bytes, and most devices have few units for it",
	scenario: "each such kernel takes half of its time",
	action:   []string{"find where a double enters: arrays of numpy are double by default; tensor.float(), or dtype=torch.float32"},
	verify:   "names of the kernels hold float in place of double",
	find: func(r *run) *found {
		half := func(_ cdg.ActID, own int64) int64 { return own / 2 }
		if len(r.ops) == 0 { // products of doubles, of which an instruction of the CPU computes half as many as of floats
			list := productsOnCPU(r, "double")
			if len(list) == 0 {
				return nil
			}
			f := r.about(list, "product", "products in double precision", "find the double: .float(), dtype=torch.float32")
			f.title = "products of the CPU are computed in double precision"
			f.cause = "a double takes twice the bytes, and an instruction computes half as many of them"
			f.change.scale(list, half)
			return f
		}
		// A type of accumulation, or that of a scalar, is not the type of what is moved.
		list := r.named(gpuKernel, func(s string) bool {
			return containsAny("<double", "dgemm", "lambda(double)")(s) && !strings.Contains(s, "opmath")
		})
		if all := r.named(gpuKernel, anyName); len(list) == 0 || 2*sum(list, r.own) > sum(all, r.own) {
			return nil // a program most of which is double means it
		}
		f := r.about(list, "kernel", "kernels in double precision", "find the double: .float(), dtype=torch.float32")
		f.change.scale(list, half)
		return f
	},
})
