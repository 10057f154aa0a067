package advise

import (
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

// fewNorms is how many normalisations are no pattern.
const fewNorms = 5

var _ = add(rule{
	id: "sync-batchnorm", group: Specific, class: critpath.ClassComm, kind: Predicted, level: Medium,
	why:      "collectives are launched inside of SyncBatchNorm",
	title:    "batch norm exchanges its statistics between all ranks",
	cause:    "each layer waits for a small collective, forward and backward",
	scenario: "these collectives vanish",
	action:   []string{"BatchNorm on each GPU by itself, where its batch is large enough", "GroupNorm, which needs no other samples"},
	verify:   "no collective inside of batch norm",
	find: func(r *run) *found {
		ops := r.outermost(r.named(markKinds, func(s string) bool {
			return strings.HasPrefix(s, "SyncBatchNorm") || strings.HasPrefix(s, "aten::batch_norm_gather_stats")
		}))
		if len(ops) < fewNorms {
			return nil
		}
		in := r.within(ops)
		var list []cdg.ActID
		for _, a := range r.collectives() {
			if in.by(a) != cdg.NoAct {
				list = append(list, a)
			}
		}
		if len(list) < fewNorms {
			return nil
		}
		f := r.about(list, "collective", "collectives", "BatchNorm by GPU, or GroupNorm")
		f.events.expected = -1
		f.numbers = append(f.numbers, countOf("normalisations", len(ops)))
		f.change.remove(list)
		return f
	},
})
