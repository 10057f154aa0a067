package advise

import (
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/vendors"
)

const (
	fewAllocs   = 8 // in a window without steps; a caching allocator that grows makes some
	fewLater    = 3 // after the first step
	allocTime   = 2_000
	allocsALook = 0.3 // per launch: nothing is cached
)

var _ = add(rule{
	id: "alloc", group: Specific, torch: true, kind: Predicted, level: Medium,
	why:      "the calls are recorded, all over the run",
	title:    "memory of the device is allocated and freed again and again",
	cause:    "the driver takes long for it, and frees wait until the device is idle",
	scenario: "each such call takes 2 µs and does not wait",
	action: []string{"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "no torch.cuda.empty_cache() in the loop",
		"the same sizes in each step: pad batches"},
	verify: "no allocation after the first step",
	find: func(r *run) *found {
		all := r.named(callKinds, vendors.Allocates)
		first := int64(0)
		if len(r.g.Steps) > 1 {
			first = r.g.Steps[0].End
		}
		var list []cdg.ActID
		for _, a := range all {
			if r.g.Acts[a].Start >= first {
				list = append(list, a)
			}
		}
		if first > 0 && len(list) < fewLater || first == 0 && (len(list) < fewAllocs || !r.allOver(list)) {
			return nil
		}
		if cold := r.result(coldStart); cold != nil && len(r.g.Steps) < 3 && 10*cold.change.atMost() > r.window {
			return nil // the run is just beginning
		}
		f := r.about(list, "call", "calls", "expandable_segments:True, no empty_cache() in loops")
		f.events.expected = allocTime
		f.numbers = append(f.numbers, countOf("operations", len(r.ops)))
		if float64(len(list)) > allocsALook*float64(len(r.ops)) {
			f.title = "memory of the device is not kept for use again"
			f.action = []string{"unset PYTORCH_NO_CUDA_MEMORY_CACHING and PYTORCH_NO_HIP_MEMORY_CACHING", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"}
			f.do = "unset PYTORCH_NO_CUDA_MEMORY_CACHING"
		}
		f.change.shrink(list, allocTime)
		f.change.noWait(r.waitsByCalls(list))
		return f
	},
})

// allOver reports whether a tenth of the calls and more lies in at least three quarters of the run, counted by launches:
// slow first calls stretch time.
func (r *run) allOver(list []cdg.ActID) bool {
	var launches []int64
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			launches = append(launches, r.g.Acts[l].Start)
		}
	}
	if len(launches) < 4 {
		return false
	}
	slices.Sort(launches)
	var in [4]int
	for _, a := range list {
		n, _ := slices.BinarySearch(launches, r.g.Acts[a].Start)
		in[min(4*n/len(launches), 3)]++
	}
	quarters := 0
	for _, n := range in {
		if 10*n >= len(list) {
			quarters++
		}
	}
	return quarters >= 3
}
