package advise

import (
	"strings"

	"overlay/internal/cdg"
)

// waitsForData are annotations by which libraries and people mark that the loop waits for a batch, whole names only.
var waitsForData = oneOf("wait_for_batch", "next_batch", "fetch_next", "dataloader_next", "get_batch", "load_batch", "## wait_for_batch ##", "## load_batch ##")

var _ = add(rule{
	id: "data-wait", group: Specific, kind: AtMost, level: Medium,
	why:      "an annotation with that name; what it holds is not known",
	title:    "the loop waits for its data",
	cause:    "nothing is computed while a batch is fetched or made",
	scenario: "each such annotation takes at most 0.2 ms",
	action:   []string{"fetch in the background: workers of a DataLoader, TrainPipelineSparseDist, a thread with a queue"},
	verify:   "time under the annotation falls below 1 ms a step",
	find: func(r *run) *found {
		var list []cdg.ActID
		for _, a := range r.outermost(r.named(markKinds, func(s string) bool { return waitsForData(s) || strings.HasPrefix(s, "enumerate(DataLoader)") })) {
			if waitsForData(r.name(a)) && r.dur(a) > fetchByWorker {
				list = append(list, a)
			}
		}
		if len(list) == 0 {
			return nil
		}
		f := r.about(list, "wait", "waits", "fetch batches in the background")
		f.events.expected = fetchByWorker
		f.change.shrink(list, fetchByWorker)
		return f
	},
})
