package advise

import (
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
)

// copiesInLine is the share of the window from which on copies in the way of kernels are worth a stream of their own.
const copiesInLine = 0.05

var _ = add(rule{
	id: "copy-h2d-exposed", group: Specific, torch: true, class: critpath.ClassCopy, kind: AtMost, level: Medium, limit: copiesInLine,
	why:      "the copies are asynchronous already, and kernels of the same stream wait behind them",
	title:    "kernels wait for copies of batches on their own stream",
	cause:    "a stream runs one thing after the other: while a batch is copied, nothing is computed",
	scenario: "these copies take no time on their stream",
	action:   []string{"copy the next batch on a stream of its own while this one is computed: wait_stream and record_stream, or a loader that prefetches to the GPU"},
	verify:   "copies run beside kernels",
	find: func(r *run) *found {
		list := largeCopies(r, func(s string) bool { return toDevice(s) && strings.Contains(s, "Pinned") })
		if len(list) < 2 { // nothing could be computed meanwhile before the first
			return nil
		}
		kernels := map[cdg.LaneID]bool{}
		for _, o := range r.ops {
			if k := &r.g.Acts[o]; !kernels[k.Lane] && !toDevice(r.name(o)) {
				kernels[k.Lane] = true
			}
		}
		if list = slices.DeleteFunc(list, func(a cdg.ActID) bool { return !kernels[r.g.Acts[a].Lane] }); len(list) < 2 {
			return nil
		}
		f := r.about(list[1:], "copy", "copies", "copy the next batch on a stream of its own")
		f.saw = tables.FormatBytes(sum(list[1:], r.bytes)) + " in " + tables.Duration(sum(list[1:], r.dur))
		f.change.zero(list[1:])
		return f
	},
})
