package advise

import (
	"fmt"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// tensorMakers are the operators that put small values of the host on a device.
var tensorMakers = []string{"aten::to", "aten::_to_copy", "aten::copy_", "aten::lift_fresh", "aten::tensor"}

// makerAround is the outermost operator around a copy that does nothing but move a value, NoAct for none.
func (r *run) makerAround(a cdg.ActID) cdg.ActID {
	found := cdg.NoAct
	r.around(a, func(op cdg.ActID, name string) bool {
		if !slices.Contains(tensorMakers, name) {
			return false
		}
		found = op
		return true
	})
	return found
}

// smallToDevice lists small copies to a device with the operators that make them.
func (r *run) smallToDevice() (copies, makers []cdg.ActID) {
	for _, a := range r.named(gpuCopy, toDevice) {
		if r.launch(a) == cdg.NoAct {
			continue
		}
		if n := r.recordedBytes(a); n == notSaid || n >= smallCopy {
			continue
		}
		copies = append(copies, a)
		if o := r.makerAround(a); o != cdg.NoAct {
			makers = append(makers, o)
		}
	}
	slices.Sort(makers)
	return copies, slices.Compact(makers)
}

var _ = add(rule{
	id: byHostTensor, group: Specific, torch: true, class: critpath.ClassCopy, kind: Predicted, level: Medium,
	why:      "where the values come from cannot be seen",
	title:    "tensors are made on the CPU and copied with a wait",
	cause:    "a copy of pageable memory returns when it is over, and so is what was queued before it",
	scenario: "nobody waits for the copies; where there are many small ones, they and the operators that make them take no time",
	action:   []string{"make them on the GPU: torch.tensor(..., device=\"cuda\") of few values, torch.arange, full, zeros", "pack the values into one pinned tensor, and copy that with non_blocking=True"},
	verify:   "no call waits for copies HtoD, and there are fewer",
	find: func(r *run) *found {
		copies, makers := r.smallToDevice()
		if len(copies) < fewCopies {
			return r.waiting(r.waitsOf(byHostTensor), "make tensors on the GPU, or pin their memory")
		}
		waits, moved := r.waitsIn(r.within(makers)), sum(copies, r.bytes)
		f := &found{events: events{list: copies, expected: -1}, change: r.scenario(), do: "make them on the GPU (device=), or pack them in one",
			title: "many small values are copied to the GPU one by one", cause: "each copy costs the CPU as much as a kernel, and from pageable memory it waits",
			saw:     fmt.Sprintf("%s of %s", tables.Counted(len(copies), "small one"), tables.FormatBytes(moved)),
			numbers: []Number{countOf("copies", len(copies)), countOf("waits", len(waits)), timeOf("in the operators", sum(makers, r.dur)), bytesOf("moved", moved)}}
		f.change.remove(copies)
		f.change.shrink(makers, 0)
		f.change.noWait(waits)
		return f
	},
})
