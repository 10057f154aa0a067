package advise

import (
	"fmt"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
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
			if in[a] != cdg.NoAct {
				list = append(list, a)
			}
		}
		if len(list) < fewNorms {
			return nil
		}
		f := &found{events: events{list: list, expected: -1}, change: r.scenario(), do: "BatchNorm by GPU, or GroupNorm",
			saw:     fmt.Sprintf("%s, %s", tables.Counted(len(list), "collective"), tables.Duration(sum(list, r.dur))),
			numbers: []Number{countOf("collectives", len(list)), timeOf("in them", sum(list, r.dur)), countOf("normalisations", len(ops))}}
		f.change.remove(list)
		return f
	},
})
