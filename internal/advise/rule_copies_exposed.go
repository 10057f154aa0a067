package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

var _ = add(rule{
	id: "copy-h2d-exposed", group: Specific, class: critpath.ClassCopy, kind: AtMost, level: Medium,
	why:      "that the copies can be hidden wholly is the best case",
	title:    "batches are copied to the GPU while it waits for them",
	cause:    "the copy stands in the stream that computes, so nothing runs beside it",
	scenario: "copies of pinned memory that are on the critical path take no time",
	action:   []string{"copy the next batch on a stream of its own: torch.cuda.Stream(), non_blocking=True, x.record_stream(stream)"},
	verify:   "copies run beside kernels",
	find: func(r *run) *found {
		var list []cdg.ActID
		for _, a := range r.named(gpuCopy, func(s string) bool { return toDevice(s) && !pageable(s) }) {
			if r.bytes(a) >= largeCopy && r.mark(a) > 0 {
				list = append(list, a)
			}
		}
		if len(list) == 0 || r.criticalOf(list)*100 < r.window {
			return nil
		}
		f := &found{events: events{list, -1}, change: r.scenario(), do: "copy the next batch on a stream of its own",
			saw:     fmt.Sprintf("%s, %s on the path", countedCopies(len(list)), tables.Duration(r.criticalOf(list))),
			numbers: []Number{countOf("copies", len(list)), timeOf("on the critical path", r.criticalOf(list)), bytesOf("moved", sum(list, r.bytes))}}
		f.change.zero(list)
		return f
	},
})

// countedCopies is a number of copies in words.
func countedCopies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return tables.Grouped(int64(n)) + " copies"
}
