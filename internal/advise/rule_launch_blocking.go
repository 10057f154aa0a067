package advise

import (
	"fmt"

	"overlay/internal/cdg"
	"overlay/internal/critpath"
	"overlay/internal/tables"
	"overlay/internal/trace"
	"overlay/internal/vendors"
)

const (
	blockedLaunch = 8_000 // ns that a launch takes which does not wait
	fewLaunches   = 50
)

var _ = add(rule{
	id: "launch-blocking", group: Specific, class: critpath.ClassLaunch, kind: Predicted, level: Medium,
	why:      "launches return after their own kernels",
	title:    "launches wait for their kernels",
	cause:    "a setting for debugging makes each launch return when its kernel is over",
	scenario: "each such launch takes 8 µs and does not wait",
	verify:   "launches take less than 10 µs",
	find: func(r *run) *found {
		p := r.program()
		if !p.cuda && !p.hip {
			return nil // no variable of another runtime is known
		}
		var blocked []cdg.ActID
		n := 0
		for _, o := range r.ops {
			l := r.launch(o)
			if l == cdg.NoAct || r.kind(o) != trace.Kernel || r.verb(l) == vendors.GraphLaunch {
				continue
			}
			n++
			if r.g.Acts[l].End >= r.g.Acts[o].End {
				blocked = append(blocked, l)
			}
		}
		if n < fewLaunches || 2*len(blocked) < n {
			return nil
		}
		f := &found{events: events{list: blocked, expected: blockedLaunch}, change: r.scenario(), action: []string{"unset CUDA_LAUNCH_BLOCKING"},
			numbers: []Number{countOf("launches that wait", len(blocked)), countOf("launches", n), timeOf("in them", sum(blocked, r.dur))}}
		if p.hip {
			f.action = []string{"unset HIP_LAUNCH_BLOCKING, CUDA_LAUNCH_BLOCKING and AMD_SERIALIZE_KERNEL"}
		}
		f.saw = fmt.Sprintf("%s of %s launches wait", tables.Grouped(int64(len(blocked))), tables.Grouped(int64(n)))
		f.change.shrink(blocked, blockedLaunch)
		f.change.noWait(r.waitsByCalls(blocked))
		return f
	},
})
