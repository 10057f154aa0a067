package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/tables"
)

const (
	manyShort  = 100     // operators that compute nothing, below which there is no usual time
	longShort  = 100_000 // ns: longer than an interrupt, about a slice of time of the scheduler
	farAbove   = 20      // times the median
	shortAgain = 3_000
)

var _ = add(rule{
	id: "cpu-contention", group: Specific, kind: Predicted, level: Medium,
	why:      "operators that compute nothing take a thousandth of a second now and then",
	title:    "the training thread is taken off its core",
	cause:    "other threads or processes run there: an operator that takes 1 µs takes as long as they do",
	scenario: "these operators take 3 µs",
	action: []string{"look at what else runs on the cores: top, other jobs, monitors", "numactl --cpunodebind, fewer workers of the data loader than cores, OMP_NUM_THREADS",
		"in a container: its share of the CPUs"},
	verify: "operators that compute nothing never take more than 0.1 ms",
	find: func(r *run) *found {
		list := r.named(opKinds, func(s string) bool {
			return slices.Contains(viewOps, s) || s == "aten::empty" || s == "aten::empty_strided"
		})
		list = append(list, r.named(callKinds, func(s string) bool { return strings.HasSuffix(s, "EventRecord") || strings.HasSuffix(s, "EventQuery") })...)
		if len(list) < manyShort {
			return nil
		}
		own := make([]int64, len(list))
		for i, a := range list {
			own[i] = r.own(a)
		}
		usual := median(own)
		var long []cdg.ActID
		for _, a := range list {
			if r.own(a) > longShort && r.own(a) > farAbove*usual && !r.waited.Has(a) {
				long = append(long, a)
			}
		}
		// A first one of a name may make something; that is cold-start.
		if len(long) < 3 || 100*len(long) < len(list) || r.allFirst(long) {
			return nil
		}
		f := &found{events: events{long, shortAgain}, change: r.scenario(), do: "look at what else runs on the cores",
			saw:     fmt.Sprintf("%s of %s far too long", tables.Grouped(int64(len(long))), tables.Counted(len(list), "empty operator")),
			numbers: []Number{countOf("long ones", len(long)), countOf("operators that compute nothing", len(list)), timeOf("in long ones", sum(long, func(a cdg.ActID) int64 { return r.own(a) })), timeOf("median", usual)}}
		f.change.scale(long, func(_ cdg.ActID, own int64) int64 { return min(own, shortAgain) })
		return f
	},
})

// allFirst reports whether most of a list lies in the first tenth of the window.
func (r *run) allFirst(list []cdg.ActID) bool {
	n := 0
	for _, a := range list {
		if r.g.Acts[a].Start-r.g.Window.Start < r.window/10 {
			n++
		}
	}
	return 2*n > len(list)
}
