package advise

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/trace"
)

// anomalies are the operators with which autograd looks for NaN in what each of its nodes returns (torch/csrc/autograd/engine.cpp, validate_outputs of the
// anomaly mode).
var anomalies = oneOf("aten::_is_any_true")

var _ = add(rule{
	id: "anomaly-mode", group: Specific, torch: true, kind: Predicted, level: Medium,
	why:      "autograd's nodes look for NaN in what they return, which they do in this mode only; the forward pass, which notes the stack of each operator, gets faster too",
	title:    "autograd's anomaly mode is on",
	cause:    "each node of the backward pass looks for NaN and waits for the answer, and each operator of the forward pass notes its stack",
	scenario: "nobody looks for NaN",
	action:   []string{"torch.autograd.set_detect_anomaly(False), or Trainer(detect_anomaly=False)"},
	verify:   "no aten::isnan below the nodes of autograd",
	find: func(r *run) *found {
		below := func(a cdg.ActID) cdg.ActID { // the node of autograd right above
			for a = r.g.Parent[a]; a != cdg.NoAct && r.kind(a) != trace.CPUOp; a = r.g.Parent[a] {
			}
			if a != cdg.NoAct && strings.HasPrefix(r.name(a), "autograd::engine::evaluate_function") {
				return a
			}
			return cdg.NoAct
		}
		nodes := map[cdg.ActID]bool{}
		for _, a := range r.named(opKinds, anomalies) {
			if n := below(a); n != cdg.NoAct {
				nodes[n] = true
			}
		}
		if len(nodes) < fewOps {
			return nil
		}
		list := slices.DeleteFunc(r.named(opKinds, oneOf("aten::isnan", "aten::_is_any_true", "aten::item")), func(a cdg.ActID) bool { return !nodes[below(a)] })
		f := r.about(list, "operator", "operators that look for NaN", "set_detect_anomaly(False)")
		f.events.expected = -1
		f.change.shrink(list, 0)
		f.change.noWait(r.waitsIn(r.within(list)))
		return f
	},
})
