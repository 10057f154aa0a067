package advise

import (
	"fmt"
	"slices"
	"strings"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
)

// lateFetch is how long a fetch from a worker that has the batch ready takes at most, ns: recorded ones take 1.1 to 2.7 ms, by the size of the batch.
const lateFetch = 3_000_000

// fetchesOfWorkers lists fetches from workers in order of time, and those of them that waited for the worker.
func fetchesOfWorkers(r *run) (all, late []cdg.ActID) {
	all = r.outermost(r.named(markKinds, func(s string) bool {
		return strings.HasPrefix(s, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__")
	}))
	return all, slices.DeleteFunc(slices.Clone(all), func(a cdg.ActID) bool { return r.dur(a) <= lateFetch })
}

// besideWorkers is how much of the critical path threads have during late fetches, and how much of that in host code that was not recorded: a thread
// that pins batches works for the fetch, too.
func besideWorkers(r *run) (ns, unseen int64) {
	_, late := fetchesOfWorkers(r)
	spans := r.spans(late)
	for _, s := range r.path.Segments.All() {
		for len(spans) > 0 && spans[0].End <= s.Start {
			spans = spans[1:]
		}
		if len(spans) == 0 {
			break
		}
		a := cdg.NoAct
		if s.Event != trace.NoEvent {
			a = r.g.ActOf[s.Event]
		}
		if d := min(s.End, spans[0].End) - max(s.Start, spans[0].Start); a != cdg.NoAct && a < r.firstOp && d > 0 {
			if ns += d; s.Kind == critpath.HostUnrecorded {
				unseen += d
			}
		}
	}
	return ns, unseen
}

var _ = add(rule{
	id: "data-workers-late", group: Specific, kind: Predicted, level: Medium,
	why:      "fetches take longer than passing on a batch that is ready does",
	title:    "workers of the data loader are too slow",
	cause:    "the loop computes nothing while it waits for the worker whose turn it is",
	scenario: "late fetches take 0.2 ms",
	action: []string{"DataLoader(num_workers=more), then prefetch_factor=4", "cheaper transforms; uncompressed or local data",
		"look whether the workers are bound to one core: taskset, OMP_NUM_THREADS"},
	verify: "no fetch takes more than 3 ms",
	find: func(r *run) *found {
		all, late := fetchesOfWorkers(r)
		if len(late) == 0 || len(all) >= 3 && len(late) == 1 && late[0] == all[0] { // before the first one the workers had to start
			return nil
		}
		f := &found{events: events{list: late, expected: fetchByWorker}, change: r.scenario(), do: "more num_workers, then prefetch_factor",
			saw:     fmt.Sprintf("%s of %s late, %s", tables.Grouped(int64(len(late))), tables.Counted(len(all), "load"), tables.Duration(sum(late, r.dur))),
			numbers: []Number{countOf("fetches", len(all)), countOf("late", len(late)), timeOf("in those", sum(late, r.dur))}}
		f.change.shrink(late, fetchByWorker)
		return f
	},
})
