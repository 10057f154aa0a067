package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/tables"
)

// fewBucketCopies is how many gradients are no pattern.
const fewBucketCopies = 20

var _ = add(rule{
	id: "ddp-bucket-copies", group: Specific, kind: Predicted, level: Medium,
	why:      "the operator that copies a gradient out of its bucket is recorded",
	title:    "DistributedDataParallel copies each gradient out of its bucket",
	cause:    "gradients have memory of their own beside the buckets that are reduced",
	scenario: "these operators take no time, and their copies vanish",
	action:   []string{"DistributedDataParallel(..., gradient_as_bucket_view=True)"},
	verify:   "copy_bucket_to_grad is gone",
	find: func(r *run) *found {
		ops := r.outermost(r.named(opKinds, oneOf("torch.distributed.ddp.reducer::copy_bucket_to_grad")))
		if len(ops) < fewBucketCopies {
			return nil
		}
		in := r.within(ops)
		copies := slices.DeleteFunc(slices.Clone(r.ops), func(a cdg.ActID) bool { return in.by(a) == cdg.NoAct })
		f := &found{events: events{list: ops, expected: -1}, change: r.scenario(), do: "DDP(gradient_as_bucket_view=True)",
			saw:     fmt.Sprintf("%s copied", tables.Counted(len(ops), "gradient")),
			numbers: []Number{countOf("gradients", len(ops)), timeOf("in the operators", sum(ops, r.dur))}}
		f.change.shrink(ops, 0)
		f.change.remove(copies)
		return f
	},
})
