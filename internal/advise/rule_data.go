package advise

import (
	"fmt"
	"strings"

	"overlay/internal/tables"
)

const (
	// fetchByWorker is what passing a batch from a worker takes, ns.
	fetchByWorker = 200_000
	// slowFetch is the mean fetch from which on workers pay: passing a batch on costs 0.1 to 1 ms itself.
	slowFetch = 2_000_000
)

var _ = add(rule{
	id: "data-no-workers", group: Specific, kind: Predicted, level: High,
	why:      "the iterator's name says that there are no workers",
	title:    "batches are loaded on the main thread (num_workers=0)",
	cause:    "the loop computes nothing while a batch is made",
	scenario: "each fetch takes 0.2 ms, as one from a worker does",
	action: []string{"DataLoader(..., num_workers=N, persistent_workers=True, pin_memory=True)",
		"more workers if fetches still take more than 1 ms then"},
	verify: "time in enumerate(DataLoader) per step falls below 1 ms",
	find: func(r *run) *found {
		fetches := r.outermost(r.named(markKinds, func(s string) bool {
			return strings.HasPrefix(s, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
		}))
		if len(fetches) == 0 {
			return nil
		}
		load := sum(fetches, r.dur)
		if load/int64(len(fetches)) < slowFetch {
			return nil // a worker would cost as much
		}
		f := &found{events: events{list: fetches, expected: fetchByWorker}, change: r.scenario(),
			numbers: []Number{countOf("fetches", len(fetches)), timeOf("in fetches", load), timeOf("mean fetch", load/int64(len(fetches)))}}
		f.change.shrink(fetches, fetchByWorker)
		if len(fetches) < 3 {
			f.level, f.why = Medium, "fewer than three fetches: they may not be typical"
		}
		rest := max(r.window-load, 1)
		workers := (load+rest-1)/rest + 1 // as many as keep up with the rest of the loop, and one for variation
		f.do = fmt.Sprintf("DataLoader(num_workers=%d, persistent_workers=True)", min(workers, 32))
		f.saw = fmt.Sprintf("%s, %s", tables.Counted(len(fetches), "load"), tables.Duration(load))
		return f
	},
})
