package advise

import (
	"maps"
	"slices"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
)

var syncAll = add(rule{
	id: "sync-all", group: General, rank: 1, class: critpath.ClassSync, kind: Predicted, level: Medium, limit: 0.02,
	why:      "all waits together gain more than each alone",
	title:    "the CPU waits for the GPU again and again",
	cause:    "each wait leaves the queue empty; as long as one of them stays, the others gain little",
	scenario: "no call waits for the GPU between the first launch and the last",
	action:   []string{"torch.cuda.set_sync_debug_mode(\"warn\") lists the waits with their lines", "remove them all: one that stays costs what the others cost"},
	verify:   "no call waits inside a step",
	find: func(r *run) *found {
		list := r.amongLaunches(r.waits)
		if len(list) < 2 {
			return nil
		}
		f := r.waiting(list, "remove all waits: set_sync_debug_mode(\"warn\") lists them")
		count := map[string]int{}
		for id, waits := range r.byCause() {
			if n := len(r.amongLaunches(waits)); n > 0 {
				count[id] = n
			}
		}
		for _, id := range slices.Sorted(maps.Keys(count)) {
			f.numbers = append(f.numbers, countOf("by "+id, count[id]))
		}
		return f
	},
})

// spanOfLaunches are the starts of the first and of the last call that launches.
func (r *run) spanOfLaunches() (first, last int64) { return r.span() }

func (r *run) findLaunches() (first, last int64) {
	for _, o := range r.ops {
		if l := r.launch(o); l != cdg.NoAct {
			at := r.g.Acts[l].Start
			if first == 0 || at < first {
				first = at
			}
			last = max(last, at)
		}
	}
	return first, last
}
