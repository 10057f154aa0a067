package advise

import (
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// fewTransposes is how many kernels are no pattern.
const fewTransposes = 4

var _ = add(rule{
	id: "layout", group: Specific, torch: true, class: critpath.ClassCompute, kind: Predicted, level: Medium,
	why:      "which layout is best for all kernels together is not known",
	title:    "tensors change their layout around convolutions",
	cause:    "kernels for tensor cores want channels last, and each input and output is transposed for them",
	scenario: "the transposes vanish, and depthwise convolutions of PyTorch's own kernels take a third",
	action:   []string{"model.to(memory_format=torch.channels_last), and the input too", "with MIOpen: PYTORCH_MIOPEN_SUGGEST_NHWC=1"},
	verify:   "no transposes beside convolutions",
	find: func(r *run) *found {
		var list []cdg.ActID
		for _, a := range r.named(gpuKernel, func(s string) bool {
			return containsAny("nchwToNhwc", "nhwcToNchw", "transpose_readWrite", "batched_transpose", "tensorTransform")(s) && !strings.Contains(s, "SubTensorOp")
		}) {
			known, conv := false, false
			r.around(a, func(_ cdg.ActID, name string) bool {
				known = true
				conv = conv || containsAny("conv", "Conv", "batch_norm", "BatchNorm")(name)
				return !conv
			})
			if conv || !known && besideConvolution(r, a) { // traces of the GPU alone have no operators
				list = append(list, a)
			}
		}
		depthwise := r.named(gpuKernel, ownDepthwise)
		if len(list)+len(depthwise) < fewTransposes {
			return nil
		}
		const do = "model.to(memory_format=torch.channels_last)"
		f := r.about(list, "transpose", "transposes", do)
		f.events.expected = -1
		if sum(depthwise, r.own) > sum(list, r.own) {
			f = r.about(depthwise, "kernel", "kernels", do)
			f.title, f.cause = "depthwise convolutions run in kernels of PyTorch's own", "where channels come first, none of the library's faster kernels takes them"
		}
		f.change.remove(list)
		f.change.scale(depthwise, func(_ cdg.ActID, own int64) int64 { return own / 3 })
		return f
	},
})

// ownDepthwise tells PyTorch's own kernels of depthwise convolutions. It takes cuDNN's where tensors are channels last (use_cudnn_depthwise in
// ATen/native/Convolution.cpp); on an H100 these took a fifth.
var ownDepthwise = containsAny("conv_depthwise2d_", "conv_depthwise3d_")

// besideConvolution reports whether a kernel of a convolution is next to an operation on its stream, or next but one.
func besideConvolution(r *run, a cdg.ActID) bool {
	lane := &r.g.Lanes[r.g.Acts[a].Lane]
	for b := max(a-2, lane.First); b <= a+2 && b < lane.Limit; b++ {
		if convolves(r.name(b)) {
			return true
		}
	}
	return false
}

// convolves tells kernels of convolutions, those of MIOpen too.
var convolves = containsAny("igemm_fwd", "igemm_bwd", "igemm_wrw", "conv2d", "Conv", "_fprop", "_dgrad", "_wgrad", "winograd", "Winograd")
